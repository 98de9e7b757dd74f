-- FROM takes the dataset's name.
# code: QG205
# suggests: SELECT COUNT(*) FROM patients
SELECT COUNT(*);

# code: QG205
# suggests: SELECT COUNT(*) FROM patients
SELECT COUNT(*) FROM people;

# code: QG205
SELECT COUNT(*) FROM vault.main.patients;

# code: QG205
SELECT COUNT(*) FROM 'patients.csv';

# code: QG205
SELECT COUNT(*) FROM "/etc/passwd";

# code: QG205
SELECT COUNT(*) FROM 's3://bucket/*.parquet';

# code: QG205
SELECT COUNT(*) FROM read_csv('patients.csv');

# code: QG205
SELECT COUNT(*) FROM read_parquet(['a.parquet', 'b.parquet']);

# code: QG205
SELECT COUNT(*) FROM read_text('/etc/passwd');

# code: QG205
SELECT COUNT(*) FROM glob('*');

# code: QG205
SELECT COUNT(*) FROM duckdb_settings();

# code: QG205
SELECT COUNT(*) FROM pragma_table_info('patients');

# code: QG205
SELECT COUNT(*) FROM range(10);

# code: QG205
SELECT COUNT(*) FROM unnest([1, 2]);

# code: QG205
SELECT COUNT(*) FROM information_schema.tables;

# code: QG205
SELECT COUNT(*) FROM sqlite_master;

# code: QG205
SELECT COUNT(*) FROM (VALUES (1), (2)) AS v(x);

# code: QG205
SELECT COUNT(*) FROM patients, patients AS other;

# code: QG205
# suggests: SELECT COUNT(*) FROM patients
SELECT COUNT(*) FROM patients JOIN patients AS p ON TRUE;

# code: QG205
SELECT COUNT(*) FROM patients LEFT JOIN other USING (age);

# code: QG205
SELECT COUNT(*) FROM patients FULL OUTER JOIN other USING (age);

# code: QG205
SELECT COUNT(*) FROM patients CROSS JOIN other;

# code: QG205
SELECT COUNT(*) FROM patients NATURAL JOIN other;

# code: QG205
SELECT COUNT(*) FROM patients SEMI JOIN other USING (age);

# code: QG205
SELECT COUNT(*) FROM patients ANTI JOIN other USING (age);

# code: QG205
SELECT COUNT(*) FROM patients ASOF JOIN other ON patients.age >= other.age;

# code: QG205
SELECT COUNT(*) FROM patients POSITIONAL JOIN other;

# code: QG205
SELECT COUNT(*) FROM patients, LATERAL (SELECT 1);

# code: QG205
SELECT COUNT(*) FROM patients TABLESAMPLE 10 PERCENT;

# code: QG205
SELECT COUNT(*) FROM patients AT (VERSION => 3);

# code: QG205
SELECT COUNT(*) FROM patients AS p(a, b);

# code: QG205
SELECT COUNT(*) FROM patients PIVOT (COUNT(*) FOR sex IN ('F'));

# code: QG205
SELECT COUNT(*) FROM $1;

# code: QG205
# suggests: SELECT COUNT(*) FROM patients
SELECT COUNT(*) FROM information_schema.patients;

# code: QG205
SELECT COUNT(*) FROM temp.patients;
