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
