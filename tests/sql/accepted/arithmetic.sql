-- Arithmetic over aggregates, and quotients that are bounded jointly.
SELECT AVG(sbp) - AVG(age) AS gap, AVG(sbp) / AVG(age) AS ratio FROM patients;

SELECT SUM(sbp) / COUNT(sbp) AS mean FROM patients;

SELECT SUM(sbp) / COUNT(*) AS per_head FROM patients;

SELECT 100.0 * COUNT(*) FILTER (WHERE sbp > 120) / COUNT(*) AS percent FROM patients;

SELECT sex, 100.0 * SUM(CASE WHEN smoker THEN 1 ELSE 0 END) / COUNT(*) AS percent FROM patients GROUP BY sex;

SELECT SUM(weight) / NULLIF(COUNT(weight), 0) FROM patients;

SELECT SUM(sbp) / SUM(age + 1) FROM patients;

SELECT CAST(COUNT(*) FILTER (WHERE smoker) AS DOUBLE) / COUNT(*) FROM patients;

SELECT sex, (MAX(sbp) - MIN(sbp)) / 2.0 AS half FROM patients GROUP BY sex;

SELECT ROUND(AVG(sbp), 1), FLOOR(AVG(sbp)), CEIL(AVG(sbp)), ABS(-AVG(sbp)) FROM patients;

SELECT SQRT(VAR_POP(age)), EXP(AVG(weight) / 100), LN(AVG(sbp)), POWER(AVG(age), 2) FROM patients;

SELECT COALESCE(AVG(sbp), 0), COALESCE(AVG(sbp) FILTER (WHERE FALSE), 0) FROM patients;

SELECT GREATEST(AVG(sbp), AVG(age)), LEAST(MIN(sbp), MIN(age)) FROM patients;

SELECT COUNT(*) - COUNT(sbp) AS missing, COUNT(*) * 2 + 1 FROM patients;

SELECT CASE WHEN AVG(sbp) > 100 THEN AVG(sbp) ELSE 0 END FROM patients;

SELECT AVG(sbp) / NULLIF(AVG(sbp) FILTER (WHERE FALSE), 0) FROM patients;

SELECT sex, COUNT(*) * 1.0 / 80 FROM patients GROUP BY sex;

SELECT STDDEV_SAMP(sbp) / AVG(sbp) FROM patients;

SELECT AVG(sbp) FILTER (WHERE smoker) - AVG(sbp) FILTER (WHERE NOT smoker) AS difference FROM patients;

SELECT MAX(age) - MIN(age), MAX(born) - MIN(born) FROM patients;

SELECT AVG(age) + 1 FROM patients;

SELECT AVG(sbp) - AVG(age) FROM patients;

SELECT -COUNT(*) FROM patients;

SELECT 'a', COUNT(*) FROM patients;

SELECT CASE WHEN COUNT(*) > 5 THEN 1 END FROM patients;

SELECT CAST(AVG(age) AS INTEGER) FROM patients;

SELECT AVG(age)::INTEGER FROM patients;
