-- Rows stay rows, however many queries are put around them.
# code: QG201
SELECT * FROM (SELECT age FROM patients);

# code: QG201
SELECT * FROM (SELECT * FROM (SELECT * FROM patients WHERE age > 40));

# code: QG201
WITH p AS (SELECT sex, age FROM patients) SELECT p.* FROM p;

# code: QG203
SELECT * FROM (SELECT sex, sex, COUNT(*) AS n FROM patients GROUP BY sex);

# code: QG203
SELECT age FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex);

# code: QG206
SELECT n FROM (SELECT DISTINCT COUNT(*) AS n FROM patients GROUP BY sex);

# code: QG206
SELECT n FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex LIMIT 2);

# code: QG206
SELECT COUNT(*) FROM (SELECT sex, COUNT(*) FROM patients GROUP BY sex OFFSET 1);

# code: QG206
SELECT n FROM (SELECT sex, COUNT(*) AS n FROM (SELECT sex FROM patients WHERE age < 41 UNION ALL
SELECT sex FROM patients WHERE age >= 40) GROUP BY sex);

# code: QG210
SELECT COUNT(*) FROM (SELECT DISTINCT * FROM patients);

# code: QG210
SELECT 'a', sex, COUNT(*) FROM patients GROUP BY ROLLUP (sex, 'a');

# code: QG211
SELECT sex, SUM(sbp) AS age FROM patients GROUP BY sex HAVING patients.age > 1700;

# code: QG211
SELECT sex, 1 AS t, COUNT(*) FROM patients GROUP BY t;

# code: QG214
SELECT n FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY 3);

# code: QG207
SELECT SUM(DISTINCT age ORDER BY age) FROM patients;

# code: QG203
SELECT SUM(age ORDER BY nothing) FROM patients;

# code: QG207
SELECT AVG(DISTINCT) FROM patients;
