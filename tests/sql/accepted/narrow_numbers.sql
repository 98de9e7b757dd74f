-- FLOAT and DECIMAL, and conditions as numbers.
SELECT sex, MAX(age::float / 3 + sbp::float / 7) FROM patients GROUP BY sex;

SELECT AVG(age::float / 3 + sbp::float / 7) FROM patients;

SELECT city, MEDIAN(weight * 0.1) FROM patients GROUP BY city;

SELECT AVG(age)::float, AVG(age)::double, AVG(age)::real, AVG(age)::numeric, AVG(age)::decimal(6, 2), AVG(age)::int FROM patients;

SELECT city, COUNT(*)::float / COUNT(sbp) FROM patients GROUP BY city HAVING COUNT(sbp) > 0;

SELECT city, COUNT(*) FILTER (WHERE smoker)::numeric / COUNT(*), COUNT(*) FILTER (WHERE smoker)::float / COUNT(*)::float, 100 * COUNT(*) FILTER (WHERE smoker)::float / COUNT(*) FROM patients GROUP BY city;

SELECT ROUND(AVG(weight)::numeric, 2), ROUND(AVG(weight)::float, 1), AVG((weight >= 0.1)::int), AVG((weight >= 0.1)::float), SUM((weight>0.1)::int * (sbp > 100)::int), SUM(weight > 0.1) FROM patients;

SELECT sex, AVG(sbp)::float / 3, AVG(sbp)::float * 0.1, AVG(sbp)::float + AVG(age), SQRT(AVG(sbp)::float) FROM patients GROUP BY sex;

SELECT sex, MAX(weight::float) / 3, MAX(weight::float) FROM patients GROUP BY sex;

SELECT AVG(m / 3) FROM (SELECT city, MAX(weight::float) AS m FROM patients GROUP BY city);

SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING AVG(weight)::float > 0.1 AND AVG(age)::float / 3 < 10.1;

SELECT SUM(weight::decimal(5,1)), AVG(CAST(sbp AS NUMERIC)), AVG(weight::decimal(6,2) * 3), MIN(weight::numeric(4,1)) FROM patients;

SELECT FLOOR(weight::float / 5), COUNT(*) FROM patients GROUP BY 1;

SELECT weight::decimal(4,0), COUNT(*) FROM patients GROUP BY 1;

SELECT CAST(weight AS DECIMAL(6,1)) AS w, COUNT(*) FROM patients GROUP BY w;
