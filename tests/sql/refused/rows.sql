-- Rows are never shown.
# code: QG201
# suggests: SELECT COUNT(*) FROM patients
SELECT * FROM patients;

# code: QG201
SELECT patients.* FROM patients;

# code: QG201
FROM patients;

# code: QG201
# suggests: SELECT AVG(age) FROM patients
SELECT age FROM patients;

# code: QG201
# suggests: SELECT sex, city, COUNT(*) FROM patients WHERE age > 40 GROUP BY sex, city
SELECT sex, city FROM patients WHERE age > 40;

# code: QG201
SELECT sex, * FROM patients GROUP BY sex;

# code: QG201
SELECT FROM patients;

# code: QG201
SELECT FROM patients GROUP BY sex;

# code: QG201
SELECT age, COUNT(*) FROM patients;

# code: QG207
SELECT * EXCLUDE (age) FROM patients;

# code: QG207
SELECT * REPLACE (age + 1 AS age) FROM patients;

# code: QG204
SELECT COLUMNS('a.*') FROM patients;

# code: QG204
SELECT COUNT(COLUMNS(*)) FROM patients;

# code: QG203
SELECT rowid FROM patients;

# code: QG203
SELECT patients FROM patients;

# code: QG211
# suggests: SELECT sex, city, COUNT(*) FROM patients GROUP BY sex, city
SELECT sex, city, COUNT(*) FROM patients GROUP BY sex;

# code: QG211
SELECT sex AS city, COUNT(*) FROM patients GROUP BY city;
