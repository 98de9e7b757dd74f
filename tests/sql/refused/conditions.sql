# code: QG208
SELECT COUNT(*) FROM patients WHERE city LIKE 'G%';

# code: QG208
SELECT COUNT(*) FROM patients WHERE city NOT ILIKE 'g%';

# code: QG208
SELECT COUNT(*) FROM patients WHERE city SIMILAR TO 'G.*';

# code: QG208
SELECT COUNT(*) FROM patients WHERE city GLOB 'G*';

# code: QG208
SELECT COUNT(*) FROM patients WHERE city ~ 'G.*';

# code: QG208
SELECT COUNT(*) FROM patients WHERE regexp_matches(city, 'G');

# code: QG204
SELECT COUNT(*) FROM patients WHERE city COLLATE NOCASE = 'graz';

# code: QG208
SELECT COUNT(*) FROM patients WHERE age = sbp;

# code: QG208
SELECT COUNT(*) FROM patients WHERE smoker = smoker;

# code: QG208
SELECT COUNT(*) FROM patients WHERE 1 = 1;

# code: QG208
SELECT COUNT(*) FROM patients WHERE 1;

# code: QG208
SELECT COUNT(*) FROM patients WHERE 'a';

# code: QG208
SELECT COUNT(*) FROM patients WHERE NULL IS NULL;

# code: QG208
SELECT COUNT(*) FROM patients WHERE -age = -40;

# code: QG208
SELECT COUNT(*) FROM patients WHERE CAST(age AS VARCHAR) = '40';

# code: QG208
SELECT COUNT(*) FROM patients WHERE 40 < age < 50;

# code: QG208
SELECT COUNT(*) FROM patients WHERE age < 50 = TRUE;

# code: QG208
SELECT COUNT(*) FROM patients WHERE sbp = 120 IS NULL;

# code: QG208
SELECT COUNT(*) FROM patients WHERE smoker IS NOT NULL = TRUE;

# code: QG208
SELECT COUNT(*) FROM patients WHERE smoker = NOT TRUE;

# code: QG208
SELECT COUNT(*) FROM patients WHERE 40 BETWEEN age AND sbp;

# code: QG208
SELECT COUNT(*) FROM patients WHERE 40 IN (age, sbp);

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
