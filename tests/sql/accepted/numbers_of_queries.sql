-- Numbers of other queries beside aggregates, and IN over the same dataset.
SELECT sex, COUNT(*) AS n, 100.0 * COUNT(*) / (SELECT COUNT(*) FROM patients) AS pct FROM patients GROUP BY sex;

SELECT sex, COUNT(*) / (SELECT COUNT(*) FROM patients WHERE age > 30) AS pct FROM patients WHERE age > 39 GROUP BY sex;

SELECT sex, COUNT(*) / (SELECT COUNT(*) FROM patients WHERE age > 39) AS pct FROM patients WHERE age > 30 GROUP BY sex;

WITH total AS (SELECT COUNT(*) AS n FROM patients) SELECT sex, 100.0 * COUNT(*) / (SELECT n FROM total) AS pct FROM patients GROUP BY sex;

WITH total AS (SELECT COUNT(*) AS total FROM patients), by_sex AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT sex, n, 100.0 * n / total AS pct FROM by_sex CROSS JOIN total;

WITH a AS (SELECT AVG(sbp) AS m FROM patients WHERE sex = 'F'), b AS (SELECT AVG(sbp) AS m FROM patients WHERE sex = 'M') SELECT a.m - b.m AS difference FROM a, b;

SELECT (SELECT AVG(sbp) FROM patients WHERE sex = 'F') - (SELECT AVG(sbp) FROM patients WHERE sex = 'M') AS difference;

SELECT sex, AVG(age) AS age, AVG(age) - (SELECT AVG(age) FROM patients) AS d FROM patients GROUP BY sex;

WITH counted AS (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) SELECT city, n, n * 1.0 / (SELECT SUM(n) FROM counted) AS share FROM counted;

SELECT COUNT(*) FROM patients WHERE sbp >= (SELECT 120);

SELECT COUNT(*) FROM patients WHERE city IN (SELECT city FROM patients WHERE city LIKE 'G%');

SELECT COUNT(*) FROM patients WHERE city IN (SELECT city FROM patients) OR age > 100;

SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING AVG(age) > (SELECT AVG(age) FROM patients);

SELECT (SELECT COUNT(*) FROM patients WHERE age > 200) + 1, (SELECT SUM(sbp) FROM patients WHERE age > 200);

SELECT sex, (SELECT AVG(age) FROM patients) FROM patients GROUP BY sex;
