-- Runs again when the password is another than at the last time.

alter role pages password '${pages_password}';
