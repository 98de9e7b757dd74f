-- What DBeaver asks when it connects and its tree is opened: databases, schemas, types, tables, columns, keys, privileges.
-- After plugins/org.jkiss.dbeaver.ext.postgresql (PostgreDataSource, PostgreDatabase, PostgreSchema), in our own writing.
SELECT version()
;
SELECT current_schema(), session_user, current_database(), current_user
;
SELECT pg_is_in_recovery(), pg_backend_pid(), txid_current()
;
SELECT set_config('bytea_output', 'hex', false) FROM pg_settings WHERE name = 'bytea_output'
;
SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE datallowconn AND NOT datistemplate ORDER BY db.datname
;
SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass ORDER BY nspname
;
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name, d.description FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c')
;
SELECT c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr, pg_catalog.pg_get_partkeydef(c.oid) AS partition_key FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass WHERE c.relnamespace = 2200 AND c.relkind NOT IN ('i', 'I', 'c')
;
SELECT c.oid, c.*, t.relname AS tabrelname, rt.relnamespace AS refnamespace, d.description, null AS consrc_copy FROM pg_catalog.pg_constraint c INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_constraint'::regclass WHERE c.conrelid = 1 ORDER BY c.oid
;
SELECT x.oid, x.* FROM pg_catalog.pg_event_trigger x ORDER BY x.oid
;
SELECT a.oid,a.* FROM pg_catalog.pg_roles a ORDER BY a.oid
;
SELECT am.oid,am.* FROM pg_catalog.pg_am am ORDER BY am.oid
;
SELECT c.contoencoding as encid, pg_catalog.pg_encoding_to_char(c.contoencoding) as encname FROM pg_catalog.pg_conversion c GROUP BY c.contoencoding ORDER BY 2
;
SET search_path = "$user","public"
;
SELECT l.oid,l.* FROM pg_catalog.pg_language l ORDER BY l.oid
;
SELECT t.oid,t.*,pg_tablespace_location(t.oid) loc FROM pg_catalog.pg_tablespace t ORDER BY t.oid
;
SELECT f.oid,f.*,d.description FROM pg_catalog.pg_foreign_data_wrapper f LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = f.oid ORDER BY f.fdwname
;
SELECT i.*,i.indkey as keys,c.relname,c.relnamespace,c.relam,c.reltablespace,tc.relname as tabrelname,dsc.description,pg_catalog.pg_get_expr(i.indpred, i.indrelid) as pred_expr,pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) as expr,pg_catalog.pg_relation_size(i.indexrelid) as index_rel_size,pg_catalog.pg_stat_get_numscans(i.indexrelid) as index_num_scans FROM pg_catalog.pg_index i INNER JOIN pg_catalog.pg_class c ON c.oid=i.indexrelid INNER JOIN pg_catalog.pg_class tc ON tc.oid=i.indrelid LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid=dsc.objoid WHERE i.indrelid=1 ORDER BY tabrelname, c.relname
;
SELECT p.oid as poid,p.*,pg_catalog.pg_get_expr(p.proargdefaults, 0) as arg_defaults,d.description FROM pg_catalog.pg_proc p LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=p.oid AND d.objsubid=0 WHERE p.pronamespace=2200 ORDER BY p.proname
;
SELECT x.oid,x.*,p.proname as func_name,c.relname as table_name,n.nspname FROM pg_catalog.pg_trigger x LEFT OUTER JOIN pg_catalog.pg_proc p ON p.oid=x.tgfoid LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid=x.tgrelid LEFT JOIN pg_catalog.pg_namespace n ON n.oid=c.relnamespace WHERE x.tgrelid=1
;
SELECT c.relname,a.*,pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) as def_value,dsc.description,dep.objid FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON (a.attrelid=c.oid) LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid=ad.adrelid AND a.attnum = ad.adnum) LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid) LEFT OUTER JOIN pg_depend dep on dep.refobjid = a.attrelid AND dep.deptype = 'i' and dep.refobjsubid = a.attnum and dep.classid = dep.refclassid WHERE NOT a.attisdropped AND c.oid=(SELECT oid FROM pg_class WHERE relname = 'survey') ORDER BY a.attnum
;
SELECT i.inhparent FROM pg_catalog.pg_inherits i,pg_catalog.pg_class rc WHERE rc.relnamespace=2200 AND rc.oid=i.inhrelid
;
SELECT tc.*, c.relname FROM information_schema.table_constraints tc, pg_class c WHERE c.relname = tc.table_name
;
select * from pg_catalog.pg_settings where name='standard_conforming_strings'
;
select string_agg(word, ',') from pg_catalog.pg_get_keywords() where word <> ALL ('{a,abs}'::text[])
;
SELECT e.oid, e.extname, n.nspname as schema_name, e.extversion FROM pg_catalog.pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace ORDER BY e.oid
;
select c.oid,pg_catalog.pg_total_relation_size(c.oid) as total_rel_size,pg_catalog.pg_relation_size(c.oid) as rel_size FROM pg_class c WHERE c.relnamespace=2200
;
SELECT relname, grantee, privilege_type FROM information_schema.table_privileges tp, pg_class WHERE table_schema='public' AND relname = table_name
;
SELECT sp.setting FROM pg_catalog.pg_settings sp WHERE sp.name = 'TimeZone'
;
SELECT t.oid,t.*,c.relkind,format_type(nullif(t.typbasetype, 0), t.typtypmod) as base_type_name, d.description FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid=t.typelem LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid=t.typrelid LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid=d.objoid WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C')
