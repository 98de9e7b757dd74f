SELECT COUNT(*), COUNT(age), COUNT(sbp), COUNT(weight), COUNT(born), COUNT(sex), COUNT(city), COUNT(smoker) FROM patients;

SELECT COUNT() FROM patients;

SELECT COUNT (sbp) FROM patients;

SELECT COUNT(ALL sbp), SUM(ALL sbp) FROM patients;

SELECT SUM(age), AVG(age), MIN(age), MAX(age) FROM patients;

SELECT SUM(sbp), AVG(sbp), MIN(sbp), MAX(sbp) FROM patients;

SELECT SUM(weight), AVG(weight), MIN(weight), MAX(weight) FROM patients;

SELECT MIN(born), MAX(born) FROM patients;

SELECT SUM(pulse), MIN(pulse), MAX(pulse) FROM patients;

SELECT "avg"(age), "Count"(*) FROM patients;

SELECT (COUNT(*)), ((AVG(age))) AS mean FROM patients;

-- Over nothing.
SELECT COUNT(*), COUNT(sbp), SUM(sbp), AVG(sbp), MIN(sbp), MAX(sbp) FROM patients WHERE FALSE;

SELECT sex, COUNT(*), AVG(sbp) FROM patients WHERE NULL GROUP BY sex;

-- The condition speaks of the aggregated column.
SELECT COUNT(sbp), AVG(sbp), MIN(sbp) FROM patients WHERE sbp > 119 OR sbp IS NULL;

SELECT MAX(weight) FROM patients WHERE weight < 0.5 AND NOT weight = 0.1;
