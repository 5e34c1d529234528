select oid from pg_type where typname = 'int8';
select t.oid, t.typname, t.typtype, t.typbasetype from pg_type t where t.oid = 25;
select typtype::text, typbasetype from pg_type where oid = 'int8'::text::regtype::oid;
select typname, typnamespace::regnamespace::text from pg_type where oid = '_text'::regtype::oid;
SELECT t.oid, t.typname, t.typelem, r.rngsubtype FROM pg_type t LEFT JOIN pg_range r ON t.oid = r.rngtypid
    WHERE t.typname = any(ARRAY['_int8', 'float8']) ORDER BY 1;
select enumlabel from pg_enum where enumtypid = 16384 order by enumsortorder;
select attname, atttypid from pg_class join pg_attribute on attrelid = pg_class.oid
    where pg_class.oid = 'public.position'::regclass and attnum > 0 and not attisdropped order by attnum;
SELECT NULL::text;
SELECT current_schema(), current_database(), current_user, session_user;
SELECT pg_is_in_recovery(), current_setting('transaction_read_only');
