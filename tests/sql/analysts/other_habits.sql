-- dataset: cohort
-- Written before anybody looked at what is accepted: an epidemiologist, a registrar, a BI tool, a language model.

SELECT smoker, COUNT(*) AS n, SUM(died::int) AS deaths, ROUND(1000.0 * SUM(died::int) / SUM(los), 2) AS rate_per_1000_days FROM cohort WHERE smoker IS NOT NULL GROUP BY smoker;

SELECT CASE WHEN bmi < 18.5 THEN '1 underweight' WHEN bmi < 25 THEN '2 normal' WHEN bmi < 30 THEN '3 overweight' WHEN bmi >= 30 THEN '4 obese' END AS bmi_group, COUNT(*) AS n, AVG(sbp) AS sbp FROM cohort GROUP BY bmi_group ORDER BY bmi_group;

SELECT arm, AVG(sbp) AS m, STDDEV(sbp) / SQRT(COUNT(sbp)) AS se, AVG(sbp) - 1.96 * STDDEV(sbp) / SQRT(COUNT(sbp)) AS lo, AVG(sbp) + 1.96 * STDDEV(sbp) / SQRT(COUNT(sbp)) AS hi FROM cohort GROUP BY arm;

SELECT AVG(CASE WHEN arm = 'treatment' THEN sbp END) - AVG(CASE WHEN arm = 'control' THEN sbp END) AS difference FROM cohort;

SELECT education, 1.0 * COUNT(*) FILTER (WHERE diabetes = 'yes') / NULLIF(COUNT(*) FILTER (WHERE diabetes IN ('yes', 'no')), 0) AS prevalence FROM cohort GROUP BY education;

SELECT 5 * FLOOR(age / 5) AS band, sex, COUNT(*) AS n FROM cohort GROUP BY 1, 2 ORDER BY 1, 2;

SELECT sex, QUANTILE_CONT(los, [0.25, 0.5, 0.75]) AS quartiles FROM cohort GROUP BY sex;

SELECT COUNT(*) AS eligible FROM cohort WHERE age BETWEEN 40 AND 74 AND NOT (diabetes = 'yes') AND sbp IS NOT NULL AND bmi IS NOT NULL;

SELECT LN(AVG(CASE WHEN died THEN 1.0 ELSE 0 END) / (1 - AVG(CASE WHEN died THEN 1.0 ELSE 0 END))) AS log_odds FROM cohort;

SELECT region, CORR(age, sbp) AS r, REGR_SLOPE(sbp, age) AS slope FROM cohort GROUP BY region;

SELECT VAR_SAMP(hba1c) AS v, COUNT(hba1c) AS n, COUNT(*) - COUNT(hba1c) AS missing FROM cohort;

SELECT YEAR(admitted) AS jahr, MONTH(admitted) AS monat, COUNT(*) AS faelle FROM cohort GROUP BY jahr, monat ORDER BY jahr, monat;

SELECT EXTRACT(YEAR FROM admitted) AS y, COUNT(*) AS n, SUM(CASE WHEN sex = 'male' THEN 1 ELSE 0 END) AS men FROM cohort WHERE admitted >= '2020-01-01' AND admitted < '2023-01-01' GROUP BY EXTRACT(YEAR FROM admitted) HAVING COUNT(*) >= 5;

SELECT COUNT(*) FROM cohort WHERE admitted BETWEEN DATE '2021-07-01' AND DATE '2021-12-31';

SELECT region, COUNT(*) AS n FROM cohort WHERE region <> 'west' GROUP BY region UNION ALL SELECT 'total', COUNT(*) FROM cohort WHERE region <> 'west';

SELECT COALESCE(smoker, 'unknown') AS smoker, COUNT(*) AS n FROM cohort GROUP BY COALESCE(smoker, 'unknown') ORDER BY n DESC;

SELECT sex, education, COUNT(*) AS n FROM cohort GROUP BY ROLLUP (sex, education);

SELECT COUNT(*) AS rows, COUNT(DISTINCT patient_id) AS patients, MIN(age) AS youngest, MAX(age) AS oldest FROM cohort;

SELECT SUM(CASE WHEN los > 30 THEN 1 ELSE 0 END) AS long_stays, 100.0 * SUM(CASE WHEN los > 30 THEN 1 ELSE 0 END) / COUNT(los) AS percent FROM cohort WHERE died IS FALSE;

SELECT region, AVG(los) AS mean_los, MEDIAN(los) AS median_los FROM cohort WHERE NOT died GROUP BY region ORDER BY mean_los DESC;

SELECT "t0"."region" AS "c0", COUNT(1) AS "c1", AVG("t0"."bmi") AS "c2" FROM "cohort" AS "t0" WHERE ("t0"."age" >= 40 AND "t0"."age" <= 60) GROUP BY "t0"."region" ORDER BY "c1" DESC;

SELECT "sex", "smoker", COUNT(*) AS "__count", AVG("sbp") AS "avg__sbp" FROM "cohort" WHERE "smoker" IS NOT NULL GROUP BY "sex", "smoker" ORDER BY "__count" DESC LIMIT 50000;

SELECT DATE_TRUNC('year', "admitted") AS "__timestamp", "region" AS "region", COUNT(*) AS "count" FROM "cohort" WHERE "admitted" >= TIMESTAMP '2019-01-01 00:00:00' AND "admitted" < TIMESTAMP '2024-01-01 00:00:00' GROUP BY DATE_TRUNC('year', "admitted"), "region" ORDER BY "count" DESC LIMIT 1000;

SELECT "region", SUM("n") AS "total" FROM (SELECT "region", "sex", COUNT(*) AS "n" FROM "cohort" GROUP BY "region", "sex") AS "sub" GROUP BY "region";

SELECT region, COUNT(*) AS n, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS pct, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM cohort GROUP BY region;

WITH base AS (SELECT *, CASE WHEN age < 50 THEN 'under 50' ELSE '50 and over' END AS age_group FROM cohort WHERE sbp IS NOT NULL) SELECT age_group, sex, COUNT(*) AS n, AVG(sbp) AS mean_sbp, STDDEV_SAMP(sbp) AS sd_sbp FROM base GROUP BY age_group, sex ORDER BY age_group, sex;

WITH flags AS (SELECT sex, (sbp >= 140 OR dbp >= 90) AS hypertensive FROM cohort), totals AS (SELECT sex, COUNT(*) AS n, COUNT(*) FILTER (WHERE hypertensive) AS cases FROM flags GROUP BY sex) SELECT sex, n, cases, 100.0 * cases / n AS percent FROM totals ORDER BY sex;

WITH overall AS (SELECT AVG(bmi) AS mean_bmi FROM cohort) SELECT sex, AVG(bmi) AS mean_bmi FROM cohort GROUP BY sex;

WITH by_arm AS (SELECT arm, AVG(hba1c) AS mean_hba1c, COUNT(hba1c) AS n FROM cohort GROUP BY arm) SELECT MAX(CASE WHEN arm = 'treatment' THEN mean_hba1c END) AS treatment, MAX(CASE WHEN arm = 'control' THEN mean_hba1c END) AS control FROM by_arm;

SELECT CASE WHEN sbp < 120 AND dbp < 80 THEN 'normal' WHEN sbp < 130 AND dbp < 80 THEN 'elevated' WHEN sbp < 140 OR dbp < 90 THEN 'stage 1' ELSE 'stage 2' END AS category, COUNT(*) AS n FROM cohort WHERE sbp IS NOT NULL AND dbp IS NOT NULL GROUP BY category;

SELECT sex, AVG(sbp - dbp) AS pulse_pressure, AVG((sbp + 2 * dbp) / 3.0) AS map FROM cohort GROUP BY sex;

SELECT SUM(wt * bmi) / SUM(wt) AS weighted_bmi FROM cohort WHERE bmi IS NOT NULL;

SELECT sex, SUM(CASE WHEN smoker = 'yes' THEN wt ELSE 0 END) / SUM(wt) AS weighted_prevalence FROM cohort WHERE smoker IS NOT NULL GROUP BY sex;

# code: QG204
SELECT APPROX_COUNT_DISTINCT(patient_id) AS patients FROM cohort;

# code: QG208
SELECT sex, COUNT(*) AS n, AVG(age) AS mean_age FROM cohort WHERE region = ANY (['north', 'south']) GROUP BY sex;

SELECT age >= 65 AS elderly, COUNT(*) AS n, AVG(los) AS los FROM cohort GROUP BY age >= 65;

SELECT IF(died, 'dead', 'alive') AS status, AVG(age) AS age FROM cohort WHERE died IS NOT NULL GROUP BY 1;

SELECT region, COUNT(*) AS n FROM cohort GROUP BY region HAVING COUNT(*) > (SELECT COUNT(*) FROM cohort) / 5.0;

# code: QG206
SELECT COUNT(*) AS n FROM cohort WHERE sbp > (SELECT AVG(sbp) FROM cohort);

SELECT arm, sex, AVG(bmi) AS mean, COUNT(bmi) AS n FROM cohort GROUP BY GROUPING SETS ((arm, sex), (arm), ());

SELECT MAX(los) - MIN(los) AS spread, MODE(region) AS commonest FROM cohort;

# code: QG204
SELECT HISTOGRAM(age) AS h FROM cohort;

# code: QG204
SELECT sex, STRING_AGG(DISTINCT region, ', ') AS regions FROM cohort GROUP BY sex;

# code: QG101
# suggests: SELECT sex, COUNT(*) FROM cohort WHERE bmi BETWEEN 18.5 AND 24.9 GROUP BY sex
SELECT sex, COUNT(*) FROM cohort WHERE bmi BETWEEN 18,5 AND 24,9 GROUP BY sex;

# code: QG209
# suggests: SELECT COUNT(*) FROM cohort WHERE admitted BETWEEN '2021-01-01' AND '2022-12-31'
SELECT COUNT(*) FROM cohort WHERE admitted BETWEEN '01.01.2021' AND '31.12.2022';

# code: QG207
# suggests: SELECT COUNT(*) FROM cohort WHERE admitted > '2022-12-31'
SELECT COUNT(*) FROM cohort WHERE admitted > 2022-12-31;
