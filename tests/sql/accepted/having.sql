-- HAVING: conditions on groups.
SELECT LOWER(city) AS town, COUNT(*) FROM patients GROUP BY LOWER(city) HAVING COUNT(*) > 3;

SELECT city, COUNT(*) AS n FROM patients GROUP BY city HAVING n > 5;

SELECT city, AVG(sbp) FROM patients GROUP BY city HAVING AVG(sbp) > 120 AND COUNT(*) >= 5;

SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING MAX(age) = 120 OR sex = 'X';

SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING sex <> 'X';

SELECT city, COUNT(*) FROM patients GROUP BY city HAVING COUNT(*) BETWEEN 5 AND 10;

SELECT city, COUNT(*) FROM patients GROUP BY city HAVING AVG(weight) IS NOT NULL AND NOT COUNT(*) IN (9, 10);

SELECT sex FROM patients GROUP BY sex HAVING COUNT(*) FILTER (WHERE smoker) * 2 > COUNT(*);

SELECT COUNT(*) FROM patients HAVING COUNT(*) > 100;

SELECT COUNT(*), AVG(age) FROM patients HAVING MIN(age) = 0;

SELECT city, AVG(sbp) - AVG(age) AS gap FROM patients GROUP BY city HAVING gap > 60 ORDER BY gap DESC;

SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*) > 10;

SELECT sex, age // 50 AS h, COUNT(*) FROM patients GROUP BY sex, h HAVING h > 0 ORDER BY h, sex;
