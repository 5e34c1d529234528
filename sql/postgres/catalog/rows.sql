-- Rows that every catalog has.

INSERT INTO pg_namespace(oid, nspname, nspowner) VALUES
    (11, 'pg_catalog', 10), (2200, 'public', 10), (13000, 'information_schema', 10);
INSERT INTO pg_database(oid, datname, datdba, encoding, datlocprovider, datallowconn, datconnlimit,
    dattablespace, datcollate, datctype) VALUES (5, 'main', 10, 6, 'c', TRUE, -1, 1663, 'C.UTF-8', 'C.UTF-8');
INSERT INTO pg_roles(oid, rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin,
    rolreplication, rolconnlimit, rolbypassrls)
    VALUES (10, 'vast', FALSE, TRUE, FALSE, FALSE, TRUE, FALSE, -1, FALSE);
INSERT INTO pg_user(usename, usesysid, usecreatedb, usesuper, userepl, usebypassrls)
    VALUES ('vast', 10, FALSE, FALSE, FALSE, FALSE);
INSERT INTO pg_tablespace(oid, spcname, spcowner) VALUES (1663, 'pg_default', 10);
INSERT INTO pg_am(oid, amname, amtype) VALUES (2, 'heap', 't'), (403, 'btree', 'i');
INSERT INTO pg_collation(oid, collname, collnamespace, collowner, collprovider, collisdeterministic,
    collencoding) VALUES (100, 'default', 11, 10, 'd', TRUE, -1), (950, 'C', 11, 10, 'c', TRUE, -1);
INSERT INTO pg_language(oid, lanname, lanowner) VALUES (14, 'sql', 10);

-- Views of pg_catalog.

INSERT INTO pg_tables(schemaname, tablename, tableowner, hasindexes, hasrules, hastriggers, rowsecurity)
    SELECT 'public', relname, 'vast', relhasindex, FALSE, FALSE, FALSE FROM pg_class WHERE relkind = 'r';
INSERT INTO pg_views(schemaname, viewname, viewowner, definition)
    SELECT 'public', relname, 'vast', pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v';
INSERT INTO pg_indexes(schemaname, tablename, indexname, indexdef)
    SELECT 'public', t.relname, x.relname, pg_get_indexdef(x.oid)
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid;
INSERT INTO pg_stat_user_tables(relid, schemaname, relname)
    SELECT oid, 'public', relname FROM pg_class WHERE relkind = 'r';

-- Tables of information_schema.

INSERT INTO information_schema_schemata(catalog_name, schema_name, schema_owner)
    SELECT 'main', nspname, 'vast' FROM pg_namespace;
INSERT INTO information_schema_tables(table_catalog, table_schema, table_name, table_type, is_insertable_into,
    is_typed)
    SELECT 'main', 'public', relname, CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'BASE TABLE' END, 'NO', 'NO'
    FROM pg_class WHERE relkind IN ('r', 'v');
INSERT INTO information_schema_views(table_catalog, table_schema, table_name, view_definition, check_option,
    is_updatable, is_insertable_into, is_trigger_updatable, is_trigger_deletable, is_trigger_insertable_into)
    SELECT 'main', 'public', relname, pg_get_viewdef(oid), 'NONE', 'NO', 'NO', 'NO', 'NO', 'NO'
    FROM pg_class WHERE relkind = 'v';
INSERT INTO information_schema_columns(table_catalog, table_schema, table_name, column_name, ordinal_position,
    column_default, is_nullable, data_type, numeric_precision, numeric_precision_radix, numeric_scale,
    udt_catalog, udt_schema, udt_name, dtd_identifier, is_self_referencing, is_identity, is_generated,
    is_updatable)
    SELECT 'main', 'public', c.relname, a.attname, a.attnum, d.adbin,
        CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END, format_type(a.atttypid, NULL),
        CASE t.typname WHEN 'int8' THEN 64 WHEN 'int4' THEN 32 WHEN 'int2' THEN 16 WHEN 'float8' THEN 53 END,
        CASE WHEN t.typname IN ('int8', 'int4', 'int2', 'float8') THEN 2 END,
        CASE WHEN t.typname IN ('int8', 'int4', 'int2') THEN 0 END,
        'main', 'pg_catalog', t.typname, CAST(a.attnum AS TEXT), 'NO', 'NO',
        CASE a.attgenerated WHEN 's' THEN 'ALWAYS' ELSE 'NEVER' END, 'NO'
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE c.relkind IN ('r', 'v');
INSERT INTO information_schema_table_constraints(constraint_catalog, constraint_schema, constraint_name,
    table_catalog, table_schema, table_name, constraint_type, is_deferrable, initially_deferred, enforced)
    SELECT 'main', 'public', o.conname, 'main', 'public', c.relname,
        CASE o.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' ELSE 'FOREIGN KEY' END,
        'NO', 'NO', 'YES'
    FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid;
INSERT INTO information_schema_key_column_usage(constraint_catalog, constraint_schema, constraint_name,
    table_catalog, table_schema, table_name, column_name, ordinal_position)
    SELECT 'main', 'public', o.conname, 'main', 'public', c.relname, a.attname, k.key + 1
    FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid
        JOIN json_each(pg_array_json(o.conkey)) k
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.value;
INSERT INTO information_schema_constraint_column_usage(table_catalog, table_schema, table_name, column_name,
    constraint_catalog, constraint_schema, constraint_name)
    SELECT table_catalog, table_schema, table_name, column_name, constraint_catalog, constraint_schema,
        constraint_name FROM information_schema_key_column_usage;
INSERT INTO information_schema_referential_constraints(constraint_catalog, constraint_schema, constraint_name,
    match_option, update_rule, delete_rule)
    SELECT 'main', 'public', conname, 'NONE', 'NO ACTION', 'NO ACTION' FROM pg_constraint WHERE contype = 'f';
