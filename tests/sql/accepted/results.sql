-- Conditions, texts and lists as results; texts of several columns.
SELECT sex || '-' || city AS k, COUNT(*), AVG(age) FROM patients GROUP BY k;

SELECT concat(sex, '-', city) AS k, COUNT(*) FROM patients GROUP BY k ORDER BY k;

SELECT concat_ws(' / ', sex, smoker, city) AS k, COUNT(*) FROM patients GROUP BY ALL;

SELECT sex || age AS k, COUNT(*) FROM patients WHERE age > 100 GROUP BY 1;

SELECT upper(city) || lower(sex) AS k, smoker, COUNT(*) FROM patients GROUP BY 1, 2;

SELECT sex || smoker || (age > 40) AS k, COUNT(*) FROM patients GROUP BY 1;

SELECT COUNT(*) FROM patients WHERE sex || city IS NULL;

SELECT COUNT(sex || city) FROM patients;

SELECT COUNT(*) FROM patients WHERE sex || city = 'FWien';

SELECT BOOL_OR(smoker), BOOL_AND(smoker), BOOL_AND(age >= 0), BOOL_OR(age > 200) FROM patients;

SELECT city, BOOL_OR(smoker), BOOL_AND(sbp < 200) FILTER (WHERE age > 20), BOOL_AND(weight > 0) FROM patients GROUP BY city;

SELECT city, MAX(age) < 100 AS a, AVG(weight) > 27 AS b, COUNT(*) > 3 AND MAX(sbp) > 100 FROM patients GROUP BY city;

SELECT city, COUNT(*) FROM patients GROUP BY city HAVING BOOL_OR(smoker);

SELECT sex, MODE(smoker) FROM patients GROUP BY sex;

SELECT sex, QUANTILE_CONT(age, [0.25, 0.5, 0.75]) AS q, COUNT(*) FROM patients GROUP BY sex;

SELECT PERCENTILE_CONT([0.25, 0.5]) WITHIN GROUP (ORDER BY age) AS q FROM patients;

SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY city FETCH FIRST 3 ROWS ONLY;

SELECT MODE(city), MODE(sex) FROM patients;

SELECT MODE() WITHIN GROUP (ORDER BY city) FROM patients;

SELECT MODE(CASE WHEN age < 40 THEN 'young' ELSE 'old' END) FROM patients;

SELECT COUNT(*) FROM patients WHERE sex || city = 'FGraz';

SELECT COUNT(*) FROM patients WHERE sex || city <> 'FGraz';

SELECT COUNT(*) FROM patients WHERE NOT concat(sex, city) = 'F';

SELECT sex, MODE(city) FROM patients WHERE age > 500 GROUP BY sex;

SELECT QUANTILE_DISC(born, [0.5, 1]) FROM patients;

SELECT MIN(city), MAX(city), MIN(smoker), MAX(smoker) FROM patients WHERE age > 30;

SELECT sex, MIN(city) FILTER (WHERE smoker), MAX(UPPER(city)) FROM patients GROUP BY sex;
