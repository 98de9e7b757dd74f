-- dataset: cohort
-- A labour-force survey, a register of diabetes and one of cancer, as their analysts ask.

SELECT region, COUNT(*) AS treated FROM cohort WHERE arm IN ('treatment') AND education IN ('secondary', 'tertiary') GROUP BY region ORDER BY treated DESC;

SELECT 100.0 * SUM(CASE WHEN smoker = 'yes' THEN 1 ELSE 0 END) / NULLIF(SUM(CASE WHEN smoker IN ('yes', 'no') THEN 1 ELSE 0 END), 0) AS rate FROM cohort WHERE age BETWEEN 18 AND 64;

SELECT CASE WHEN age BETWEEN 18 AND 24 THEN '18-24' WHEN age BETWEEN 25 AND 49 THEN '25-49' WHEN age BETWEEN 50 AND 64 THEN '50-64' ELSE 'other' END AS ageband, ROUND(AVG(sbp), 2) AS mean_sbp FROM cohort GROUP BY ageband ORDER BY ageband;

SELECT region, AVG(bmi) - (SELECT AVG(bmi) FROM cohort) AS gap FROM cohort GROUP BY region;

WITH w AS (SELECT sex, AVG(bmi) AS m FROM cohort GROUP BY sex) SELECT MAX(CASE WHEN sex = 'female' THEN m END) / MAX(CASE WHEN sex = 'male' THEN m END) AS ratio FROM w;

SELECT region, sex, COUNT(*) FROM cohort GROUP BY GROUPING SETS ((region, sex), (region), ());

SELECT COUNT(*) FILTER (WHERE age >= 30) AS n30, COUNT(*) FILTER (WHERE age >= 65) AS n65, COUNT(*) FILTER (WHERE age >= 65)::DOUBLE / COUNT(*) FILTER (WHERE age BETWEEN 30 AND 64) AS oadr FROM cohort;

SELECT LEFT(region, 2) AS r, COUNT(*) FROM cohort GROUP BY r;

SELECT region, MODE(education) FROM cohort GROUP BY region;

SELECT ROUND(sbp / 10) * 10 AS band, COUNT(*) FROM cohort WHERE sbp IS NOT NULL GROUP BY band ORDER BY band;

SELECT GREATEST(30, LEAST(75, age)) AS a, COUNT(*) FROM cohort GROUP BY a;

SELECT region, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS pct FROM cohort GROUP BY region HAVING COUNT(*) >= 10;

SELECT EXP(AVG(LN(hba1c))) AS geometric_mean FROM cohort WHERE hba1c > 0;

SELECT sex, STDDEV(sbp) / AVG(sbp) AS cv FROM cohort GROUP BY sex;

SELECT arm, COUNT(*) n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM cohort GROUP BY arm;

SELECT sex, SUM(CASE WHEN hba1c < 7 THEN 1 ELSE 0 END) * 100.0 / COUNT(hba1c) AS pct_controlled FROM cohort GROUP BY sex;

SELECT CASE WHEN bmi >= 30 THEN 'adipös' WHEN bmi >= 25 THEN 'übergewichtig' ELSE 'normal' END AS bmi_klasse, COUNT(*) FROM cohort WHERE bmi IS NOT NULL GROUP BY ALL;

SELECT age // 10 * 10 AS dekade, AVG(sbp) FROM cohort GROUP BY dekade ORDER BY dekade;

SELECT COUNT(*) FROM cohort WHERE education ILIKE '%ARY';

SELECT arm LIKE '%treat%' AS treated, COUNT(*), AVG(hba1c) FROM cohort GROUP BY treated;

SELECT AVG(date_diff('year', DATE '1990-01-01', admitted)) AS years FROM cohort;

SELECT median(hba1c), quantile_cont(hba1c, 0.25), quantile_cont(hba1c, 0.75) FROM cohort;

SELECT smoker, AVG(CASE WHEN diabetes = 'yes' THEN 1.0 WHEN diabetes = 'no' THEN 0.0 END) AS anteil FROM cohort GROUP BY smoker;

SELECT COUNT_IF(hba1c > 9) FROM cohort;

SELECT SUM(diabetes = 'yes') FROM cohort;

SELECT education, AVG((died)::INT) AS mort FROM cohort GROUP BY education;

SELECT date_trunc('quarter', admitted) AS q, COUNT(*) FROM cohort GROUP BY q ORDER BY q;

SELECT EXTRACT(year FROM admitted) AS y, sex, COUNT(*) FROM cohort GROUP BY y, sex ORDER BY 1, 2;

SELECT COUNT(*) FROM cohort WHERE education IN ('secondary', 'tertiary') AND age >= 70;

SELECT COUNT(*) FROM cohort WHERE regexp_matches(education, '^t');

SELECT education, 100.0 * AVG(CASE WHEN los >= 30 THEN 1 ELSE 0 END) AS long_stay FROM cohort WHERE admitted < DATE '2022-01-01' GROUP BY education;

SELECT AVG(los) FILTER (WHERE died) FROM cohort;

SELECT SUM(los) / 365.25 AS person_years, 1000 * SUM(CASE WHEN died THEN 1 ELSE 0 END) / (SUM(los) / 365.25) AS rate FROM cohort;

SELECT education, AVG(age), STDDEV(age) FROM cohort WHERE education IS NOT NULL GROUP BY education ORDER BY education;

SELECT COALESCE(smoker, 'missing') AS s, COUNT(*) FROM cohort GROUP BY s;

SELECT age >= 70 AS old, arm, COUNT(*) FROM cohort GROUP BY ALL;

SELECT sex, COUNT(DISTINCT region) FROM cohort GROUP BY sex;

SELECT width_bucket(age, 20, 100, 8) AS b, COUNT(*) FROM cohort GROUP BY b;

# code: QG204
SELECT approx_quantile(sbp, 0.5) FROM cohort;

# code: QG204
SELECT string_agg(DISTINCT education, ',') FROM cohort;
