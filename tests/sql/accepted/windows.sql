-- Windows over groups: shares, sums, ranks; and QUALIFY.
SELECT sex, COUNT(*) AS n, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS pct FROM patients GROUP BY sex;

SELECT sex, city, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER (PARTITION BY sex) AS pct, COUNT(*)::float / SUM(COUNT(*)) OVER (PARTITION BY city) FROM patients GROUP BY sex, city;

WITH t AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT sex, n, 100.0 * n / SUM(n) OVER () AS pct FROM t WHERE n > 3 ORDER BY sex;

SELECT city, RANK() OVER (ORDER BY COUNT(*) DESC) AS r, DENSE_RANK() OVER (ORDER BY COUNT(*) DESC) AS d, ROW_NUMBER() OVER (ORDER BY city) FROM patients GROUP BY city;

SELECT city, SUM(COUNT(*)) OVER (ORDER BY city) AS run, SUM(COUNT(*)) OVER (ORDER BY COUNT(*)) AS run2, AVG(AVG(age)) OVER () FROM patients GROUP BY city;

WITH r AS (SELECT city, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM patients GROUP BY city) SELECT city, n FROM r WHERE r <= 2;

SELECT city, COUNT(*) FROM patients GROUP BY city QUALIFY RANK() OVER (ORDER BY COUNT(*) DESC) <= 3;

SELECT sex, SUM(weight) / SUM(SUM(weight)) OVER () FROM patients GROUP BY sex;

SELECT sex, SUM(age) / SUM(SUM(age)) OVER () FROM patients GROUP BY sex;

SELECT sex, SUM(sbp) / SUM(SUM(sbp)) OVER () FROM patients GROUP BY sex HAVING COUNT(*) > 5;

SELECT sex, city, GROUPING(sex, city), COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY sex) FROM patients GROUP BY ROLLUP (sex, city);

SELECT sex, COUNT(*) OVER () AS groups_, MAX(COUNT(*)) OVER (), MIN(AVG(sbp)) OVER (PARTITION BY sex) FROM patients GROUP BY sex, city;

SELECT AVG(pct) FROM (SELECT sex, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS pct FROM patients GROUP BY sex);

SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY SUM(COUNT(*)) OVER (), sex LIMIT 2;

SELECT city, COUNT(sbp) / NULLIF(SUM(COUNT(sbp)) OVER (), 0) FROM patients WHERE sbp IS NULL GROUP BY city;

SELECT RANK() OVER (ORDER BY COUNT(*)), sex FROM patients GROUP BY sex;

SELECT sex, SUM(COUNT(*)) OVER () FROM patients GROUP BY sex;

SELECT city, smoker, COUNT(*), 100.0 * COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY smoker) FROM patients WHERE age = 40 GROUP BY city, smoker;

SELECT city, ROW_NUMBER() OVER (ORDER BY COUNT(*), city DESC) FROM patients GROUP BY city;

SELECT city, SUM(SUM(sbp)) OVER (ORDER BY city DESC NULLS FIRST) FROM patients GROUP BY city;

SELECT age, COUNT(*) / SUM(COUNT(*)) OVER () FROM patients WHERE age > 100 AND sex = 'X' GROUP BY age;

SELECT city, COUNT(sbp) FILTER (WHERE smoker) / NULLIF(SUM(COUNT(sbp) FILTER (WHERE smoker)) OVER (PARTITION BY sex), 0), sex FROM patients GROUP BY city, sex;
