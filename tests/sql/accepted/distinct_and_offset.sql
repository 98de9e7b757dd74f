-- DISTINCT is grouping; OFFSET and LIMIT keep what may be within them.
SELECT DISTINCT sex FROM patients;

SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY sex LIMIT 1 OFFSET 1;

SELECT COUNT(*) FROM patients OFFSET 1;

SELECT sex, COUNT(*) FROM patients GROUP BY sex LIMIT 1;

SELECT SUM(DISTINCT age) FROM patients;

SELECT SUM(DISTINCT age), AVG(DISTINCT sbp) FROM patients;

SELECT DISTINCT city, sex FROM patients WHERE age > 40;

SELECT DISTINCT age // 10 FROM patients;

SELECT sex, city, COUNT(*) FROM patients GROUP BY sex, city ORDER BY sex, city OFFSET 3;

SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY sex LIMIT 1 OFFSET 1 ROWS;

SELECT DISTINCT sex, smoker FROM patients WHERE age > 40;

SELECT DISTINCT sex, COUNT(*) FROM patients GROUP BY sex;

SELECT DISTINCT COUNT(*) FROM patients;

SELECT COUNT(DISTINCT sbp), SUM(DISTINCT sbp), AVG(DISTINCT sbp), MIN(DISTINCT sbp) FROM patients;

SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY n DESC, city LIMIT 2 OFFSET 2;

SELECT city, COUNT(*) FROM patients GROUP BY city LIMIT 3;

SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY city OFFSET 2;

SELECT sex || '!' AS label, COUNT(*) FROM patients GROUP BY sex;

SELECT city, COUNT(DISTINCT sex) FROM patients GROUP BY city;
SELECT COUNT(DISTINCT weight > 70) FROM patients;
SELECT COUNT(DISTINCT age > 40), COUNT(DISTINCT born < DATE '1970-01-01') FROM patients WHERE sex = 'F';
SELECT sex, COUNT(DISTINCT CASE WHEN weight < 60 THEN 'light' WHEN weight < 90 THEN 'middle' ELSE 'heavy' END) FROM patients GROUP BY sex;
SELECT COUNT(DISTINCT monthname(born)) FROM patients;
