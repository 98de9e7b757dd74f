# code: QG207
SELECT AVG(age) + 1 FROM patients;

# code: QG207
SELECT AVG(sbp) - AVG(age) FROM patients;

# code: QG207
SELECT -COUNT(*) FROM patients;

# code: QG207
SELECT 1 FROM patients;

# code: QG207
SELECT 'a', COUNT(*) FROM patients;

# code: QG207
SELECT COUNT(*) > 5 FROM patients;

# code: QG206
SELECT (SELECT COUNT(*) FROM patients) FROM patients;

# code: QG204
SELECT CASE WHEN COUNT(*) > 5 THEN 1 END FROM patients;

# code: QG207
SELECT CAST(AVG(age) AS INTEGER) FROM patients;

# code: QG207
SELECT AVG(age)::INTEGER FROM patients;

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
SELECT COUNT(*) FROM patients WHERE age + 1 = 41;

# code: QG207
SELECT COUNT(*) FROM patients WHERE age = 40 + 1;

# code: QG207
SELECT COUNT(*) FROM patients WHERE age % 2 = 0;

# code: QG207
SELECT COUNT(*) FROM patients WHERE city || 'x' = 'y';

# code: QG207
SELECT COUNT(*) FROM patients WHERE city[1] = 'G';

# code: QG207
SELECT COUNT(*) FROM patients WHERE born + INTERVAL 1 DAY = '2020-03-01';

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
