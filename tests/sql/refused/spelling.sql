-- The parser would take these, DuckDB would not, or would mean something else.
# code: QG101
# suggests: SELECT COUNT(*) FROM patients WHERE age IN (40, NULL)
SELECT COUNT(*) FROM patients WHERE age IN [40, NULL];

# code: QG101
SELECT COUNT(*) FROM patients WHERE age <=> 40;

# code: QG101
SELECT COUNT(*) FROM patients WHERE ! smoker;

# code: QG101
SELECT COUNT(*) FROM patients WHERE +age = 40;

# code: QG101
SELECT COUNT(*) FROM patients WHERE age = +40;

# code: QG101
SELECT COUNT(*) FROM patients WHERE age = 40,;

# code: QG101
SELECT COUNT(*) FROM patients WHERE age IN (, 40);

# code: QG101
SELECT , COUNT(*) FROM patients;

# code: QG101
SELECT COUNT(*) FROM patients WHERE age IN;

# code: QG101
SELECT COUNT(*) FROM patients WHERE age BETWEEN 40 50;

# code: QG101
SELECT COUNT(*) FROM patients WHERE smoker NOT IS NULL;

# code: QG101
SELECT COUNT(*) FROM patients WHERE age > . 5;

# code: QG101
SELECT MAX(age AS oldest FROM patients;

# code: QG207
SELECT (sex AS s), COUNT(*) FROM patients GROUP BY sex;

# code: QG101
SELECT COUNT(*) AS "" FROM patients;

# code: QG101
SELECT COUNT(*) END FROM patients;

# code: QG101
SELECT COUNT(*) FROM patients AS left;

# code: QG101
SELECT COUNT(*) FROM patients {# a template's comment #};

# code: QG101
SELECT COUNT(*) FROM patients LIMIT 1 WHERE age = 40;

# code: QG101
SELECT sex, COUNT(*) FROM patients ORDER BY sex GROUP BY sex;

# code: QG101
AS SELECT COUNT(*) FROM patients;
