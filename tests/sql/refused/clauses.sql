# code: QG206
WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT COUNT(*) FROM patients;

# code: QG206
SELECT COUNT(*) FROM patients UNION SELECT COUNT(*) FROM patients;

# code: QG206
SELECT COUNT(*) FROM patients UNION ALL BY NAME SELECT COUNT(*) FROM patients;

# code: QG206
SELECT COUNT(*) FROM patients INTERSECT SELECT COUNT(*) FROM patients;

# code: QG206
SELECT COUNT(*) FROM patients EXCEPT SELECT COUNT(*) FROM patients;

# code: QG206
# suggests: SELECT sex, COUNT(*) FROM patients GROUP BY sex
SELECT DISTINCT sex FROM patients;

# code: QG206
SELECT DISTINCT ON (sex) sex, COUNT(*) FROM patients GROUP BY sex;

# code: QG206
SELECT sex, COUNT(*) FROM patients GROUP BY sex QUALIFY ROW_NUMBER() OVER () = 1;

# code: QG206
SELECT COUNT(*) FROM patients WINDOW w AS (PARTITION BY sex);

# code: QG206
SELECT COUNT(*) OVER () FROM patients;

# code: QG206
SELECT AVG(age) OVER (PARTITION BY sex ORDER BY born) FROM patients;

# code: QG206
SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY sex LIMIT 1 OFFSET 1;

# code: QG206
SELECT COUNT(*) FROM patients OFFSET 1;

# code: QG206
SELECT COUNT(*) FROM patients USING SAMPLE 10%;

# code: QG206
SELECT sex, COUNT(*) FROM patients GROUP BY DISTINCT sex;

# code: QG206
SELECT COUNT(*) FROM patients LIMIT 50%;

# code: QG206
SELECT COUNT(*) FROM patients LIMIT 50 PERCENT;

# code: QG206
SELECT COUNT(*) FROM patients LIMIT 1 WITH TIES;

# code: QG206
SELECT COUNT(*) FROM patients LIMIT 0, 1;

# code: QG206
SELECT COUNT(*) FROM patients LIMIT 1 BY sex;

# code: QG206
SELECT COUNT(*) FROM patients FOR UPDATE;

# code: QG206
SELECT COUNT(*) INTO t FROM patients;

# code: QG206
SELECT COUNT(*) FROM patients WHERE age BETWEEN SYMMETRIC 50 AND 40;

# code: QG207
SELECT COUNT(*) FROM patients FETCH FIRST 1 ROWS ONLY;

# code: QG207
SELECT COUNT(*) FROM patients LIMIT ALL;

# code: QG207
SELECT COUNT(*) FROM patients LIMIT 1.5;

# code: QG207
SELECT COUNT(*) FROM patients LIMIT -1;

# code: QG207
SELECT COUNT(*) FROM patients LIMIT 1 + 1;

# code: QG207
SELECT COUNT(*) FROM patients LIMIT '1';

# code: QG206
SELECT COUNT(*) FROM patients LIMIT (SELECT 1);

# code: QG207
SELECT COUNT(*) FROM patients LIMIT 9223372036854775808;

# code: QG213
# suggests: SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY sex LIMIT 1
SELECT sex, COUNT(*) FROM patients GROUP BY sex LIMIT 1;
