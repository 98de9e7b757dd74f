SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY sex;

SELECT city, COUNT(*) FROM patients GROUP BY city ORDER BY city;

SELECT city, COUNT(*) FROM patients GROUP BY city ORDER BY city DESC;

SELECT city, COUNT(*) FROM patients GROUP BY city ORDER BY city ASC NULLS FIRST;

SELECT city, COUNT(*) FROM patients GROUP BY city ORDER BY city DESC NULLS FIRST;

SELECT city, AVG(sbp) AS mean FROM patients WHERE weight > 0.1 GROUP BY city ORDER BY mean NULLS FIRST, 1;

SELECT smoker, city, COUNT(*) FROM patients GROUP BY 1, 2 ORDER BY smoker DESC, COUNT(*) DESC, city NULLS FIRST;

-- An alias comes before a column in ORDER BY, with and without brackets.
SELECT sex, COUNT(*) AS sex FROM patients GROUP BY sex ORDER BY sex;

SELECT COUNT(*) AS sex FROM patients GROUP BY sex ORDER BY (sex);

SELECT COUNT(*) AS sex FROM patients GROUP BY sex ORDER BY patients.sex;

SELECT city AS sex, sex AS city, COUNT(*) FROM patients GROUP BY sex, city ORDER BY sex, city;

SELECT sex, COUNT(*) AS age FROM patients GROUP BY sex ORDER BY MAX(age), age;

SELECT sex FROM patients GROUP BY sex ORDER BY AVG(weight) DESC, COUNT(sbp);

SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY n DESC, city LIMIT 3;

SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY 2, 1 LIMIT 0;

SELECT city FROM patients GROUP BY city ORDER BY city LIMIT 100;

SELECT COUNT(*) FROM patients LIMIT 1;

SELECT COUNT(*), MAX(age) AS m FROM patients ORDER BY m LIMIT 0;

SELECT sex AS s, COUNT(*) FROM patients s GROUP BY sex ORDER BY s DESC;

-- ORDER BY ALL: every column of the select list, from left to right.
SELECT sex, city, COUNT(*) FROM patients GROUP BY sex, city ORDER BY ALL;

SELECT city, sex, AVG(age) FROM patients GROUP BY ALL ORDER BY ALL DESC NULLS LAST;

SELECT sex, city, COUNT(*) AS n FROM patients GROUP BY ALL ORDER BY all LIMIT 3;
