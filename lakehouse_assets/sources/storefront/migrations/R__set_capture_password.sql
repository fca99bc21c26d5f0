-- Runs again when the password is another than at the last time.

alter role debezium password '${capture_password}';
