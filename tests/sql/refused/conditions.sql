# code: QG204
SELECT COUNT(*) FROM patients WHERE city COLLATE NOCASE = 'graz';

# code: QG208
SELECT COUNT(*) FROM patients WHERE 1;

# code: QG208
SELECT COUNT(*) FROM patients WHERE 'a';

# code: QG101
SELECT COUNT(*) FROM patients WHERE 40 < age < 50;

# code: QG101
SELECT COUNT(*) FROM patients WHERE age < 50 = TRUE;

# code: QG208
SELECT COUNT(*) FROM patients WHERE age IN city;

# code: QG208
SELECT COUNT(*) FROM patients WHERE age IN (SELECT 40);

# code: QG208
SELECT COUNT(*) FROM patients WHERE age = ANY (SELECT 40);

# code: QG208
SELECT COUNT(*) FROM patients WHERE age = ANY ([40, 41]);

# code: QG208
SELECT COUNT(*) FROM patients WHERE age > ALL (SELECT 40);

# code: QG206
SELECT COUNT(*) FROM patients WHERE EXISTS (SELECT 1);

# code: QG206
SELECT COUNT(*) FROM patients WHERE age = (SELECT MAX(age) FROM patients);

# code: QG208
SELECT COUNT(*) FROM patients WHERE COUNT(*) > 5;

# code: QG203
# suggests: SELECT COUNT(*) FROM patients WHERE age > 40
SELECT COUNT(*) FROM patients WHERE agee > 40;

# code: QG203
# suggests: SELECT COUNT(*) FROM patients WHERE age = 40
SELECT COUNT(*) FROM patients AS p WHERE patients.age = 40;

# code: QG203
SELECT COUNT(*) FROM patients WHERE city = "Graz";

# code: QG203
SELECT sex AS s, COUNT(*) FROM patients WHERE s = 'F' GROUP BY s;

# code: QG203
SELECT AVG(mrn) FROM patients;
