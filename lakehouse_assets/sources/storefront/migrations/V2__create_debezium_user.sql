-- Who reads the shop's changes: may replicate and read these tables, and nothing else. Roles belong
-- to the whole server, so it may be there already.

do $$
begin
    if not exists (select from pg_roles where rolname = 'debezium') then
        create role debezium;
    end if;
end
$$;

-- Without a password nobody gets in; R__set_capture_password.sql gives it one.
alter role debezium login replication;

grant usage on schema public to debezium;
grant select on
    customers, addresses, categories, products, orders, order_items, payments, shipments
    to debezium;

-- A deleted or changed row is told whole, as it was.
alter table customers replica identity full;
alter table addresses replica identity full;
alter table categories replica identity full;
alter table products replica identity full;
alter table orders replica identity full;
alter table order_items replica identity full;
alter table payments replica identity full;
alter table shipments replica identity full;

create publication storefront for table
    customers, addresses, categories, products, orders, order_items, payments, shipments;
