-- Queries inside queries: WITH, subqueries, groups of groups, UNION ALL.
WITH adults AS (SELECT * FROM patients WHERE age >= 18) SELECT COUNT(*), AVG(sbp) FROM adults;

WITH a AS (SELECT age, sbp FROM patients WHERE sex = 'F'), b AS (SELECT * FROM a WHERE age > 20) SELECT AVG(sbp) FROM b;

WITH a AS (SELECT age * 2 AS twice, sex FROM patients) SELECT sex, AVG(twice) FROM a GROUP BY sex;

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT MAX(n), MIN(n), SUM(n), COUNT(*) FROM a;

WITH a AS (SELECT city, AVG(sbp) AS mean FROM patients GROUP BY city) SELECT AVG(mean), MAX(mean) FROM a;

WITH a AS (SELECT sex, city, COUNT(*) AS n FROM patients GROUP BY sex, city) SELECT sex, AVG(n), MAX(n) FROM a GROUP BY sex;

WITH a AS (SELECT sex, city, COUNT(*) AS n FROM patients GROUP BY sex, city) SELECT COUNT(*) FROM a WHERE n > 3;

WITH a AS (SELECT city, COUNT(*) AS n FROM patients GROUP BY city HAVING COUNT(*) > 5) SELECT COUNT(*), SUM(n) FROM a;

WITH a AS (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) SELECT n > 10 AS large, COUNT(*) FROM a GROUP BY large;

WITH a AS (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) SELECT city, SUM(n) FROM a WHERE city LIKE 'G%' GROUP BY city;

SELECT COUNT(*) FROM (SELECT * FROM patients WHERE smoker) AS s WHERE s.age > 40;

SELECT AVG(x) FROM (SELECT sbp - age AS x FROM patients);

SELECT AVG(x) FROM (SELECT sbp - age AS x FROM patients WHERE smoker) WHERE x > 50;

SELECT band, COUNT(*), AVG(sbp) FROM (SELECT CASE WHEN age < 40 THEN 'a' ELSE 'b' END AS band, sbp FROM patients) GROUP BY band;

SELECT s.sex, COUNT(*) FROM (SELECT sex, age FROM patients WHERE age > 16) s GROUP BY s.sex;

SELECT MAX(n) FROM (SELECT sex, smoker, COUNT(*) AS n FROM patients GROUP BY sex, smoker);

SELECT MAX(n) - MIN(n) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex);

SELECT AVG(m) FROM (SELECT sex, MEDIAN(sbp) AS m FROM patients GROUP BY sex);

SELECT sex, MAX(m) FROM (SELECT sex, city, AVG(sbp) AS m FROM patients GROUP BY sex, city) GROUP BY sex;

SELECT COUNT(*) FROM (SELECT city FROM patients GROUP BY city);

SELECT COUNT(city) FROM (SELECT city FROM patients GROUP BY city HAVING AVG(sbp) > 120);

SELECT SUM(n) FROM (SELECT age // 10 AS d, COUNT(*) AS n FROM patients GROUP BY d) WHERE d >= 4;

SELECT d * 10, SUM(n) FROM (SELECT age // 10 AS d, sex, COUNT(*) AS n FROM patients GROUP BY d, sex) GROUP BY d;

SELECT COUNT(*) FROM (SELECT * FROM (SELECT * FROM patients WHERE age > 16) WHERE smoker) WHERE sbp > 100;

SELECT AVG(y + 1) FROM (SELECT x * 2 AS y FROM (SELECT age - 40 AS x FROM patients));

SELECT MAX(s) FROM (SELECT sex, SUM(n) AS s FROM (SELECT sex, city, COUNT(*) AS n FROM patients GROUP BY sex, city) GROUP BY sex);

SELECT COUNT(*) FROM (SELECT sex FROM patients ORDER BY age);

SELECT COUNT(*) FROM (SELECT age FROM patients WHERE age < 40 UNION ALL SELECT age FROM patients WHERE age >= 40);

SELECT AVG(x) FROM (SELECT sbp AS x FROM patients WHERE sex = 'F' UNION ALL SELECT age FROM patients WHERE sex = 'M');

SELECT g, COUNT(*), AVG(age) FROM (SELECT 'young' AS g, age FROM patients WHERE age < 40 UNION ALL SELECT 'old', age FROM patients WHERE age >= 40) GROUP BY g;

SELECT 'all' AS who, COUNT(*) FROM patients UNION ALL SELECT 'smokers', COUNT(*) FROM patients WHERE smoker;

SELECT sex, COUNT(*) FROM patients GROUP BY sex UNION ALL SELECT 'total', COUNT(*) FROM patients;

SELECT AVG(sbp) FROM patients WHERE sex = 'F' UNION ALL SELECT AVG(sbp) FROM patients WHERE sex = 'M' UNION ALL SELECT AVG(sbp) FROM patients;

WITH f AS (SELECT * FROM patients WHERE sex = 'F') SELECT COUNT(*) FROM f UNION ALL SELECT COUNT(*) FROM patients;

SELECT COUNT(*) FROM (patients) AS p WHERE p.age = 40;

SELECT COUNT(*) FROM ((SELECT * FROM patients));

WITH a AS (SELECT * FROM patients), b AS (SELECT sex, AVG(age) AS m FROM a GROUP BY sex) SELECT AVG(m) FROM b;

WITH a AS (SELECT city, SUM(sbp) AS s, COUNT(sbp) AS n FROM patients GROUP BY city) SELECT SUM(s) / SUM(n) FROM a;

WITH a AS (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) SELECT MEDIAN(n), STDDEV_SAMP(n), QUANTILE_CONT(n, 0.9) FROM a;

WITH a AS (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) SELECT COUNT(*) FILTER (WHERE n > 10), COUNT_IF(n <= 10) FROM a;

WITH a AS (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) SELECT city, MAX(n) FROM a GROUP BY city ORDER BY 2 DESC LIMIT 2;

WITH a AS (SELECT city, smoker, COUNT(*) AS n FROM patients GROUP BY city, smoker) SELECT city, SUM(CASE WHEN smoker THEN n ELSE 0 END) FROM a GROUP BY city;

SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM patients);

SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM patients WHERE FALSE);

SELECT sex FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) GROUP BY sex HAVING SUM(n) > 20;

SELECT COUNT(DISTINCT n) FROM (SELECT city, COUNT(*) AS n FROM patients GROUP BY city);

SELECT AVG(bmi) AS mean FROM (SELECT weight / 2.5 AS bmi, sex FROM patients) WHERE sex = 'F' AND bmi > 0.01;

SELECT COUNT(*) FROM (SELECT sex AS s, age AS a FROM patients) AS t WHERE t.s = 'F' AND t.a > 30;

SELECT sex, 'x' AS constant, COUNT(*), 3 AS three FROM patients GROUP BY sex;

SELECT d * 10 AS label, COUNT(*) FROM (SELECT age // 10 AS d FROM patients) GROUP BY d;

SELECT age // 10 * 10 AS from_, age // 10 * 10 + 9 AS to_, COUNT(*) FROM patients GROUP BY age // 10;

SELECT AVG(c) FROM (SELECT age AS a, 'a' AS b, sbp AS c FROM patients WHERE sex = 'F' UNION ALL SELECT sbp, city, age FROM patients WHERE sex = 'M');

SELECT AVG(sbp), AVG(age) FROM (SELECT age, 'a', sbp FROM patients WHERE sex = 'F' UNION ALL SELECT sbp, age, 0 FROM patients WHERE sex = 'M');

WITH p AS (SELECT * FROM patients) SELECT COUNT(*) FROM patients;

SELECT COUNT(*) FROM main.patients;

SELECT COUNT(*) FROM 'patients';

SELECT COUNT(*) FROM (SELECT * FROM patients);

SELECT COUNT(*) FROM (patients);

SELECT sex, COUNT(*), FROM patients GROUP BY sex;

SELECT COUNT(*) FROM patients WHERE age IN (40,);
