-- dataset: cohort
-- Casts as several databases write them, and calendars.

SELECT AVG(age)::float, AVG(age)::double, AVG(age)::real, AVG(age)::numeric, AVG(age)::decimal(6, 2), AVG(age)::int FROM cohort;

SELECT CAST(AVG(age) AS DECIMAL(5, 1)) AS age, CAST(SUM(los) AS BIGINT) AS days FROM cohort;

SELECT ROUND(AVG(bmi)::numeric, 2) AS bmi FROM cohort;

SELECT ROUND(CAST(AVG(bmi) AS NUMERIC), 1) AS bmi, ROUND(CAST(AVG(age) AS DOUBLE PRECISION)) AS age FROM cohort;

SELECT CAST(bmi AS INTEGER) AS bmi_rounded, COUNT(*) FROM cohort GROUP BY 1 ORDER BY 1;

SELECT AVG(age::float) AS age, AVG(CAST(los AS NUMERIC)) AS los, SUM(bmi::decimal(5, 1)) AS bmi FROM cohort;

SELECT AVG(CAST(died AS INTEGER)) AS risk, SUM(CAST(died AS INT)) AS deaths FROM cohort;

SELECT AVG((hba1c >= 6.5)::int) AS diabetic, AVG((hba1c >= 6.5)::float) AS same, AVG(CAST(hba1c >= 6.5 AS INT)) AS again FROM cohort;

SELECT SUM(CAST(smoker = 'yes' AS INTEGER)) AS smokers FROM cohort;

SELECT YEAR(admitted) AS year, COUNT(*) AS n FROM cohort GROUP BY year ORDER BY year;

SELECT EXTRACT(YEAR FROM admitted) AS year, EXTRACT(MONTH FROM admitted) AS month, COUNT(*) FROM cohort GROUP BY 1, 2 ORDER BY 1, 2;

SELECT DATE_TRUNC('month', admitted) AS month, COUNT(*) AS admissions, AVG(los) AS los FROM cohort GROUP BY month ORDER BY month;

SELECT strftime(admitted, '%Y-%m') AS month, COUNT(*) FROM cohort GROUP BY 1 ORDER BY 1;

# code: QG204
# suggests: SELECT STRFTIME(admitted, '%Y-%m') AS month, COUNT(*) FROM cohort GROUP BY 1 ORDER BY 1
SELECT TO_CHAR(admitted, 'YYYY-MM') AS month, COUNT(*) FROM cohort GROUP BY 1 ORDER BY 1;

SELECT date_part('dow', admitted) AS weekday, COUNT(*) FROM cohort GROUP BY 1;

SELECT dayname(admitted) AS weekday, COUNT(*) AS n, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS pct FROM cohort GROUP BY weekday;

SELECT COUNT(*) FROM cohort WHERE admitted >= DATE '2021-01-01' AND admitted < DATE '2022-01-01';

SELECT COUNT(*) FROM cohort WHERE admitted BETWEEN '2020-03-01' AND '2020-05-31';

SELECT COUNT(*) FROM cohort WHERE admitted >= CURRENT_DATE - INTERVAL 10 YEAR;

SELECT AVG(DATE_DIFF('day', admitted, DATE '2024-01-01')) / 365.25 AS mean_follow_up FROM cohort;

SELECT AVG(DATE '2024-01-01' - admitted) AS days FROM cohort;

SELECT AVG(DATE_DIFF('year', admitted, CURRENT_DATE)) AS years FROM cohort;

SELECT YEAR(admitted) AS year, sex, AVG(los) AS los FROM cohort WHERE YEAR(admitted) >= 2020 GROUP BY ROLLUP (year, sex);

SELECT QUARTER(admitted) AS quarter, COUNT(*) FILTER (WHERE died) AS deaths FROM cohort GROUP BY quarter ORDER BY quarter;

SELECT CASE WHEN MONTH(admitted) IN (12, 1, 2) THEN 'winter' ELSE 'other' END AS season, COUNT(*), AVG(los) FROM cohort GROUP BY season;

SELECT MAX(admitted) - MIN(admitted) AS span FROM cohort;

SELECT age::text AS age, COUNT(*) FROM cohort GROUP BY 1 LIMIT 5;

SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) FROM cohort GROUP BY 1 ORDER BY 1;

SELECT TRY_CAST(education AS INTEGER) AS n, COUNT(*) FROM cohort GROUP BY 1;

SELECT year(admitted) || '-Q' || quarter(admitted) AS quarter, COUNT(*) FROM cohort GROUP BY 1 ORDER BY 1;

SELECT AVG(admitted::date - DATE '2019-01-01') FROM cohort;
