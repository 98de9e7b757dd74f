# code: QG201
SELECT 1 FROM patients;

# code: QG201
SELECT (SELECT COUNT(*) FROM patients) FROM patients;

# code: QG205
SELECT COUNT(*) + (SELECT COUNT(*) FROM patients);

# code: QG205
SELECT COUNT(*) FROM (SELECT (SELECT COUNT(*) FROM patients) AS n);

# code: QG204
SELECT [1, 2] FROM patients;

# code: QG204
SELECT {'a': 1} FROM patients;

# code: QG207
SELECT (COUNT(*), AVG(age)) FROM patients;

# code: QG204
SELECT x -> x + 1 FROM patients;

# code: QG207
SELECT COUNT(*) FROM patients WHERE age = ?;

# code: QG207
SELECT COUNT(*) FROM patients WHERE age = $1;

# code: QG207
SELECT COUNT(*) FROM patients WHERE age = $name;

# code: QG207
SELECT COUNT(*) FROM patients WHERE city[1] = 'G';

# code: QG207
SELECT COUNT(*) FROM patients WHERE city = E'Gr\x61z';

# code: QG207
SELECT COUNT(*) FROM patients WHERE city = $$Graz$$;

# code: QG207
SELECT COUNT(*) FROM patients WHERE born = DATE '2020-02-29' AT TIME ZONE 'UTC';

# code: QG207
SELECT COUNT(*) FROM patients WHERE main.patients.age = 40;

# code: QG207
SELECT COUNT(*) FROM patients WHERE (age, sbp) = (40, 120);

# code: QG207
SELECT COUNT(*) FROM patients WHERE (age, sbp) IN ((40, 120));

# code: QG207
SELECT MAX(LEAST(sbp, LEAST(weight, LEAST(sbp, LEAST(weight, LEAST(sbp, LEAST(weight, LEAST(sbp, LEAST(weight, LEAST(sbp, LEAST(weight, sbp)))))))))))  FROM patients;

# code: QG208
SELECT AVG(NULLIF(NULLIF(NULLIF(NULLIF(weight + sbp, 1), 2), 3), 4)) FROM patients;
