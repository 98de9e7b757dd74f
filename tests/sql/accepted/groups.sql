SELECT sex, COUNT(*) FROM patients GROUP BY sex;

SELECT sex FROM patients GROUP BY sex;

SELECT COUNT(*) FROM patients GROUP BY sex;

SELECT sex, city, smoker, COUNT(*), AVG(weight) FROM patients WHERE age < 50 GROUP BY sex, city, smoker;

SELECT sex AS s, COUNT(*) FROM patients GROUP BY s;

SELECT sex AS s, COUNT(*) FROM patients GROUP BY (s);

SELECT sex, COUNT(*) FROM patients GROUP BY 1;

SELECT COUNT(*), sex, sex AS again FROM patients GROUP BY 3, (sex), 2;

-- A column comes before an alias in GROUP BY ...
SELECT city AS sex, COUNT(*) FROM patients GROUP BY sex, city;

-- ... and in WHERE.
SELECT sex AS city, COUNT(*) FROM patients WHERE city = 'Graz' GROUP BY sex;

SELECT sex, MIN(born) AS sex FROM patients WHERE city = 'Graz' AND sex <> 'M' GROUP BY sex;

SELECT 1 AS k, COUNT(*), MAX(age) FROM patients WHERE age > 119 AND sex = 'X' GROUP BY ALL;

SELECT YEAR(DATE '2004-02-29') AS k, UPPER('a') AS j, SUM(age) FROM patients WHERE age < 0 GROUP BY ALL;

SELECT 1 AS k, COUNT(*) FROM patients WHERE age < 0 GROUP BY 1;

SELECT DISTINCT 1 AS k FROM patients WHERE age < 0;

SELECT 1 AS k, sex, COUNT(*) FROM patients WHERE age < 0 GROUP BY ALL;

SELECT 1 AS k, SUM(n) FROM (SELECT 2 AS j, COUNT(*) AS n FROM patients WHERE age < 0 GROUP BY ALL) t GROUP BY ALL;

SELECT COUNT(*) FROM (SELECT DISTINCT 1 AS k FROM patients WHERE age < 0) t;

SELECT k, COUNT(*), MAX(age) FROM (SELECT age, 1 AS k FROM patients) t WHERE age < 0 GROUP BY ALL;

SELECT CASE WHEN k > 0 THEN 'one' ELSE 'other' END AS j, COUNT(*) FROM (SELECT age, ROUND(1, 1) AS k FROM patients) t WHERE age < 0 GROUP BY ALL;

WITH t AS (SELECT age, 1 AS k FROM patients) SELECT k, 2 AS j, COUNT(*) FROM t WHERE age < 0 GROUP BY ALL;
