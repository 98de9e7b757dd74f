-- The statement as a whole: order of its parts, names, comments, spaces.
SELECT COUNT(*) FROM patients;

select count(*) from patients;

SELECT ALL COUNT(*) FROM patients;

SELECT COUNT(*) AS n FROM patients;

SELECT COUNT(*) n FROM patients;

SELECT COUNT(*) AS "a ""quoted"" name" FROM patients;

SELECT COUNT(*) AS 'n' FROM patients;

SELECT n: COUNT(*) FROM patients;

SELECT COUNT(*) FROM "Patients" AS P WHERE p."AGE" > 40;

SELECT COUNT(*) FROM patients p WHERE p.age > 40;

SELECT COUNT(*) FROM p: patients WHERE p.age > 40;

SELECT PATIENTS.SEX, COUNT(*) FROM patients GROUP BY Patients.Sex;

FROM patients SELECT COUNT(*);

FROM patients SELECT sex, COUNT(*) WHERE age > 40 GROUP BY sex ORDER BY sex LIMIT 1;

SELECT COUNT(*) -- everybody
FROM patients /* of the /* whole */ study */
WHERE age > 40 -- the end;

SELECT
	COUNT(*)
FROM
	patients;

SELECT /*+ a hint is a comment */ COUNT(*) FROM patients;

SELECT COUNT(*)FROM patients WHERE(age>40)AND(sbp<200)OR(NOT smoker);

-- The alias of the table may be the name of a column.
SELECT COUNT(*) FROM patients AS sex WHERE sex = 'F';

SELECT COUNT(*), COUNT(*), COUNT(*) AS count, AVG(age), AVG(age) FROM patients;

SELECT COUNT(*) AS _group, sex AS count FROM patients GROUP BY sex;

SELECT sex, COUNT(*) FROM patients group
   by sex ORDER	BY sex;
