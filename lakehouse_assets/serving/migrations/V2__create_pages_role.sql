-- Who shows it on pages: may read this table, and nothing else. Roles belong to the whole server, so
-- it may be there already.

do $$
begin
    if not exists (select from pg_roles where rolname = 'pages') then
        create role pages;
    end if;
    execute format('revoke all on database %I from public', current_database());
    execute format('grant connect on database %I to pages', current_database());
end
$$;

-- Without a password nobody gets in; R__set_pages_password.sql gives it one.
alter role pages login connection limit 10;
alter role pages set default_transaction_read_only = on;
alter role pages set statement_timeout = '5s';

grant usage on schema public to pages;
grant select on weather to pages;
