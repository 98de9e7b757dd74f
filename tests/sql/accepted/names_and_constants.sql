-- In HAVING a name is a group's, else one of the select list, and only then a column's.
SELECT sex, SUM(age) AS age FROM patients GROUP BY sex HAVING age > 1000;
SELECT sex, SUM(sbp) AS age FROM patients GROUP BY sex HAVING age + SUM(age) > 4000;
SELECT SUM(sbp) AS age FROM patients HAVING age > 1700;
SELECT age % 2 AS age, COUNT(*) FROM patients GROUP BY 1 HAVING age > 0;
SELECT age % 2 AS age, COUNT(*) FROM patients GROUP BY age HAVING age > 1;
SELECT sex, COUNT(*) AS y FROM (SELECT sex, age AS y FROM patients) GROUP BY sex HAVING y > 20;

-- A constant makes one group, which is there if anybody is.
SELECT 'a', COUNT(*) FROM patients GROUP BY 'a';
SELECT COUNT(*) FROM patients WHERE age < 0 GROUP BY 'a' || 'b';
SELECT COUNT(*) FROM patients WHERE age < 0 GROUP BY 1 + 1;
SELECT 1, 'a', COUNT(*) + 1 FROM patients GROUP BY 1, 2;
SELECT sex, 'all ages' AS part, COUNT(*) FROM patients GROUP BY ALL;
SELECT DISTINCT sex, 'a' FROM patients;
SELECT DISTINCT 'a' FROM patients;
SELECT 1.5 AS t, COUNT(*) FROM patients GROUP BY t ORDER BY t;
SELECT sex, 2 AS t, COUNT(*) FROM patients GROUP BY t, sex;
SELECT NULL, COUNT(*) FROM patients GROUP BY 1;
SELECT t, AVG(n) FROM (SELECT 'x' AS t, sex, COUNT(*) AS n FROM patients GROUP BY t, sex) GROUP BY t;

-- Constants inside formulas over groups.
SELECT LOG2(COUNT(*)), LOG10(AVG(age)), LOG(MAX(age)) FROM patients;
SELECT city, CASE WHEN city IS NULL THEN 'unknown' ELSE 'known' END AS told, COUNT(*) FROM patients GROUP BY city;
SELECT sex, CASE WHEN AVG(weight) IS NULL THEN 0 ELSE 1 END AS weighed FROM patients GROUP BY sex;

-- Several keys of one column make no more groups than it has values.
SELECT COUNT(*) FROM patients GROUP BY age, age + 1, age * 2, -age, ROUND(age::NUMERIC);
SELECT COUNT(*) FROM patients GROUP BY YEAR(born), DECADE(born), CENTURY(born);

-- A function of a day beside it.
SELECT day, n FROM (SELECT LAST_DAY(born) AS day, COUNT(*) AS n FROM patients WHERE YEAR(born) > 1990 GROUP BY day);
SELECT YEAR(m), MONTHNAME(m), COUNT(*) FROM (SELECT DATE_TRUNC('year', born)::DATE AS m FROM patients) GROUP BY m;

-- The order of its values does not matter to an aggregate.
SELECT COUNT(city ORDER BY city), SUM(age ORDER BY sex DESC), AVG(weight ORDER BY age) FROM patients;
SELECT MIN(age ORDER BY sex), MAX(age ORDER BY weight) FILTER (WHERE age < 50) FROM patients;
