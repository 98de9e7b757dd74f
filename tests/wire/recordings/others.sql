-- What drivers and other tools ask at their start.
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')
;
SELECT table_name FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'
;
SELECT oid, typname, typlen, typcategory FROM pg_type WHERE oid IN (20, 25, 3906)
;
SELECT t.typname, t.oid, (t.typcategory = 'A') AS is_array, r.rngsubtype FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid WHERE t.oid = '3906'::oid
;
SHOW TRANSACTION ISOLATION LEVEL
;
SHOW standard_conforming_strings
;
SELECT CAST('test plain returns' AS VARCHAR(60)) AS anon_1
;
SELECT name, setting FROM pg_settings WHERE name IN ('server_version', 'TimeZone')
;
SELECT rolname, rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user
;
SELECT has_schema_privilege('public', 'CREATE'), has_database_privilege(current_database(), 'TEMP')
