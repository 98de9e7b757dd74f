# code: QG202
INSERT INTO patients VALUES (1);

# code: QG202
UPDATE patients SET age = 1;

# code: QG202
DELETE FROM patients;

# code: QG202
TRUNCATE patients;

# code: QG202
MERGE INTO patients USING other ON TRUE WHEN MATCHED THEN DELETE;

# code: QG202
CREATE TABLE t AS SELECT COUNT(*) FROM patients;

# code: QG202
CREATE VIEW v AS SELECT COUNT(*) FROM patients;

# code: QG202
CREATE MACRO f(x) AS x + 1;

# code: QG202
ALTER TABLE patients ADD COLUMN x INTEGER;

# code: QG202
DROP TABLE patients;

# code: QG202
COPY patients TO 'patients.csv';

# code: QG202
COPY (SELECT COUNT(*) FROM patients) TO '/tmp/x';

# code: QG202
ATTACH 'vault.duckdb' AS vault;

# code: QG202
DETACH vault;

# code: QG202
USE other;

# code: QG202
PRAGMA database_list;

# code: QG202
SET memory_limit = '100GB';

# code: QG202
RESET memory_limit;

# code: QG202
INSTALL httpfs;

# code: QG202
LOAD httpfs;

# code: QG202
CALL duckdb_settings();

# code: QG202
EXPLAIN SELECT COUNT(*) FROM patients;

# code: QG202
EXPLAIN ANALYZE SELECT COUNT(*) FROM patients;

# code: QG202
DESCRIBE patients;

# code: QG202
SHOW TABLES;

# code: QG202
SUMMARIZE patients;

# code: QG202
PIVOT patients ON sex USING COUNT(*);

# code: QG202
UNPIVOT patients ON age, sbp;

# code: QG202
VALUES (1), (2);

# code: QG202
BEGIN TRANSACTION;

# code: QG202
COMMIT;

# code: QG202
VACUUM;

# code: QG202
CHECKPOINT;

# code: QG202
PREPARE q AS SELECT COUNT(*) FROM patients;

# code: QG202
COMMENT ON TABLE patients IS 'x';

# code: QG202
ANALYZE;
