-- Expressions inside aggregates: tabulated where one column with few values decides, else by interval arithmetic.
SELECT AVG(age + 1), AVG(age * 2), AVG(age - 40), AVG(age / 2), SUM(-age) FROM patients;

SELECT AVG(sbp - age), AVG(sbp + weight), SUM(sbp * age), AVG(sbp / (age + 1)) FROM patients;

SELECT AVG(weight * 2.5), SUM(weight + 0.5), MAX(weight / 3) FROM patients;

SELECT AVG(weight / POWER(sbp / 100.0, 2)) FROM patients;

SELECT AVG(ABS(age - 40)), MAX(ABS(weight)), SUM(SIGN(weight)) FROM patients;

SELECT AVG(LN(sbp)), AVG(LOG10(sbp)), AVG(LOG2(sbp)), AVG(LOG(sbp)), AVG(EXP(weight / 100)), AVG(SQRT(age)) FROM patients;

SELECT AVG(LN(weight + 2)), AVG(SQRT(weight + 1)) FROM patients;

SELECT AVG(ROUND(weight)), AVG(FLOOR(weight)), AVG(CEIL(weight)), AVG(TRUNC(weight)), AVG(ROUND(weight, 1)) FROM patients;

SELECT AVG(COALESCE(sbp, 120)), AVG(COALESCE(weight, 70)), SUM(COALESCE(sbp, age)) FROM patients;

SELECT AVG(NULLIF(age, 0)), AVG(NULLIF(weight, 0)), COUNT(NULLIF(sbp, 120)) FROM patients;

SELECT AVG(LEAST(sbp, 120)), AVG(GREATEST(sbp, age)), MAX(LEAST(weight, 1.5)) FROM patients;

SELECT AVG(CASE WHEN age < 40 THEN 0 WHEN age < 65 THEN 1 ELSE 2 END) FROM patients;

SELECT AVG(CASE WHEN smoker THEN sbp ELSE age END), SUM(CASE sex WHEN 'F' THEN 1 WHEN 'M' THEN 2 END) FROM patients;

SELECT SUM(CASE WHEN weight > 0.1 THEN age END), AVG(IF(age > 40, sbp, weight)) FROM patients;

SELECT AVG(LENGTH(city)), MAX(LENGTH(city)), SUM(CASE WHEN city LIKE 'G%' THEN 1 ELSE 0 END) FROM patients;

SELECT AVG(YEAR(born)), MIN(MONTH(born)), MAX(EXTRACT(DAY FROM born)), AVG(DATE_PART('dow', born)) FROM patients;

SELECT AVG(DATE_DIFF('year', born, DATE '2020-06-30')), MAX(DATE '2021-01-01' - born) FROM patients;

SELECT AVG(CAST(age AS DOUBLE)), SUM(CAST(weight AS INTEGER)), SUM(CAST(smoker AS INTEGER)) FROM patients;

SELECT AVG(age % 10), AVG(age // 10), SUM(age ** 2), AVG(POWER(age, 3)) FROM patients;

SELECT AVG(age * age - age), AVG(weight * weight) FROM patients;

SELECT CORR(LN(sbp), age), REGR_SLOPE(sbp, age / 10) FROM patients;

SELECT MEDIAN(sbp - age), QUANTILE_CONT(sbp + age, 0.9), STDDEV_SAMP(sbp - age) FROM patients;

SELECT COUNT(age + sbp), COUNT(weight * 2), COUNT(CASE WHEN smoker THEN 1 END) FROM patients;

SELECT COUNT(age > 40), COUNT(sbp > age), COUNT(city = 'Graz') FROM patients;

SELECT AVG(WIDTH_BUCKET(age, 0, 100, 10)), MAX(WIDTH_BUCKET(weight, 0, 1, 4)) FROM patients;

SELECT MIN(LENGTH(UPPER(city || '!'))), MAX(STRPOS(city, 'r')) FROM patients;

SELECT SUM(age::BIGINT * 10), AVG(weight::DOUBLE) FROM patients;

SELECT VAR_SAMP(age) FROM patients WHERE age = 0 AND sex = 'X' AND smoker;

SELECT MIN(-weight), MAX(1 - weight), MIN(5 - age) FROM patients;

SELECT SUM(age + 1) FROM patients;

SELECT SUM(CASE WHEN smoker THEN 1 ELSE 0 END) FROM patients;

SELECT COUNT(*) FROM patients WHERE age + 1 = 41;

SELECT COUNT(*) FROM patients WHERE age = 40 + 1;

SELECT COUNT(*) FROM patients WHERE age % 2 = 0;

SELECT COUNT(*) FROM patients WHERE city || 'x' = 'y';

SELECT COUNT(*) FROM patients WHERE born + INTERVAL 1 DAY = '2020-03-01';
