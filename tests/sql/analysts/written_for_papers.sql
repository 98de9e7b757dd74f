-- dataset: cohort
-- Table 1 of medical papers, dbplyr, pandas and SAS once more, as they write it when nobody tidies up.

# code: QG207
# suggests: SELECT sex AS "Sex", COUNT(*) AS "N", ROUND(CAST(AVG(age) AS DECIMAL(18, 3)), 1), ROUND(CAST(STDDEV(age) AS DECIMAL(18, 3)), 1) FROM cohort GROUP BY sex
SELECT sex AS "Sex", COUNT(*) AS "N", ROUND(AVG(age)::numeric, 1) || ' (' || ROUND(STDDEV(age)::numeric, 1) || ')' AS "Age, mean (SD)" FROM cohort GROUP BY sex;

SELECT arm, COUNT(*) AS n, AVG(age) AS age_mean, STDDEV(age) AS age_sd, AVG(bmi) AS bmi_mean, STDDEV(bmi) AS bmi_sd, 100 * AVG(CASE WHEN smoker = 'yes' THEN 1.0 ELSE 0.0 END) AS smoker_pct FROM cohort GROUP BY arm ORDER BY arm;

SELECT arm, MEDIAN(los) AS median_los, QUANTILE_CONT(los, 0.25) AS q1, QUANTILE_CONT(los, 0.75) AS q3 FROM cohort WHERE los IS NOT NULL GROUP BY arm;

SELECT arm, QUANTILE_CONT(los, 0.75) - QUANTILE_CONT(los, 0.25) AS iqr FROM cohort GROUP BY arm;

SELECT COUNT(*) AS total, COUNT(bmi) AS bmi_known, COUNT(*) - COUNT(bmi) AS bmi_missing, 100.0 * (COUNT(*) - COUNT(bmi)) / COUNT(*) AS bmi_missing_pct FROM cohort;

SELECT CASE WHEN bmi < 18.5 THEN '1 underweight' WHEN bmi < 25 THEN '2 normal' WHEN bmi < 30 THEN '3 overweight' WHEN bmi IS NULL THEN '9 missing' ELSE '4 obese' END AS bmi_class, COUNT(*) AS n FROM cohort GROUP BY 1 ORDER BY 1;

SELECT arm, SUM((age >= 65)::int) AS elderly, AVG((age >= 65)::int) AS elderly_share FROM cohort GROUP BY arm;

SELECT (AVG(CASE WHEN arm = 'treatment' THEN sbp END) - AVG(CASE WHEN arm = 'control' THEN sbp END)) / STDDEV(sbp) AS smd FROM cohort;

SELECT AVG(sbp) FILTER (WHERE arm = 'treatment') - AVG(sbp) FILTER (WHERE arm = 'control') AS difference FROM cohort;

SELECT arm, AVG(sbp) - 1.96 * STDDEV(sbp) / SQRT(COUNT(sbp)) AS lower, AVG(sbp) + 1.96 * STDDEV(sbp) / SQRT(COUNT(sbp)) AS upper FROM cohort GROUP BY arm;

SELECT arm, AVG((sbp + 2 * dbp) / 3.0) AS mean_arterial_pressure FROM cohort GROUP BY arm;

SELECT arm, AVG(sbp - dbp) AS pulse_pressure FROM cohort WHERE sbp IS NOT NULL AND dbp IS NOT NULL GROUP BY arm;

SELECT sex, SUM(CASE WHEN sbp >= 140 OR dbp >= 90 THEN 1 ELSE 0 END) * 100.0 / COUNT(*) AS hypertension_pct FROM cohort GROUP BY sex;

SELECT SUM(CASE WHEN smoker = 'yes' AND died THEN 1 ELSE 0 END) AS a, SUM(CASE WHEN smoker = 'yes' AND NOT died THEN 1 ELSE 0 END) AS b, SUM(CASE WHEN smoker = 'no' AND died THEN 1 ELSE 0 END) AS c, SUM(CASE WHEN smoker = 'no' AND NOT died THEN 1 ELSE 0 END) AS d FROM cohort;

SELECT 1000.0 * SUM(CASE WHEN died THEN 1 ELSE 0 END) / SUM(los) AS deaths_per_1000_days FROM cohort WHERE los > 0;

SELECT AVG(CASE WHEN died THEN 1.0 ELSE 0.0 END) FILTER (WHERE smoker = 'yes') / NULLIF(AVG(CASE WHEN died THEN 1.0 ELSE 0.0 END) FILTER (WHERE smoker = 'no'), 0) AS risk_ratio FROM cohort;

SELECT 1.0 / NULLIF(AVG(CASE WHEN arm = 'control' THEN died::int END) - AVG(CASE WHEN arm = 'treatment' THEN died::int END), 0) AS nnt FROM cohort;

SELECT q01.sex, COUNT(*) AS n FROM (SELECT cohort.*, CASE WHEN (age < 65.0) THEN '<65' WHEN NOT (age < 65.0) THEN '65+' END AS age_group FROM cohort) q01 WHERE (q01.age_group = '65+') GROUP BY q01.sex;

SELECT "sex", AVG("bmi") AS "m", COUNT(*) AS "n" FROM "cohort" WHERE (NOT(("bmi" IS NULL))) GROUP BY "sex" HAVING (COUNT(*) > 10.0);

SELECT "region", "n", "n" * 1.0 / SUM("n") OVER () AS "prop" FROM (SELECT "region", COUNT(*) AS "n" FROM "cohort" GROUP BY "region") "q01" ORDER BY "n" DESC;

SELECT "education", SUM(CASE WHEN ("died" = TRUE) THEN 1.0 WHEN NOT ("died" = TRUE) THEN 0.0 END) AS "deaths" FROM "cohort" GROUP BY "education";

SELECT "sex", "arm", COUNT(*) AS "n" FROM "cohort" WHERE ("region" IN ('north', 'south')) AND ("age" BETWEEN 40.0 AND 60.0) GROUP BY "sex", "arm" ORDER BY "sex", "arm" LIMIT 6;

SELECT cohort.sex, avg(cohort.bmi) AS avg_1, count(cohort.bmi) AS count_1 FROM cohort WHERE cohort.age >= 40 GROUP BY cohort.sex ORDER BY cohort.sex;

SELECT anon_1.sex, anon_1.n FROM (SELECT cohort.sex AS sex, count(*) AS n FROM cohort GROUP BY cohort.sex) AS anon_1 WHERE anon_1.n > 5;

SELECT sex, COUNT(*) AS size, MIN(age) AS min, MAX(age) AS max FROM cohort GROUP BY sex;

SELECT COUNT(sbp) AS count, AVG(sbp) AS mean, STDDEV_SAMP(sbp) AS std, MIN(sbp) AS min, QUANTILE_CONT(sbp, 0.25) AS "25%", QUANTILE_CONT(sbp, 0.5) AS "50%", QUANTILE_CONT(sbp, 0.75) AS "75%", MAX(sbp) AS max FROM cohort;

SELECT FLOOR(age / 5) * 5 AS age_from, sex, COUNT(*) AS n FROM cohort GROUP BY 1, 2 ORDER BY 1, 2;

SELECT sex, COUNT(*) AS N, AVG(bmi) AS mean_bmi, VAR_SAMP(bmi) AS var_bmi, STDDEV_SAMP(bmi) / SQRT(COUNT(bmi)) AS stderr_bmi, 100 * STDDEV_SAMP(bmi) / AVG(bmi) AS cv_bmi FROM cohort GROUP BY sex;

# code: QG101
# suggests: SELECT COUNT(*) AS n FROM cohort WHERE sex = 'female' AND age >= 40
SELECT COUNT(*) AS n FROM cohort WHERE sex EQ 'female' AND age GE 40;

SELECT SUM(bmi IS NULL) AS nmiss_bmi FROM cohort;

SELECT SUM(CASE WHEN bmi IS NULL THEN 1 ELSE 0 END) AS nmiss_bmi, SUM(CASE WHEN sbp IS NULL THEN 1 ELSE 0 END) AS nmiss_sbp FROM cohort;

SELECT COALESCE(smoker, 'unknown') AS smoker, COUNT(*) AS n, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS pct FROM cohort GROUP BY 1 ORDER BY 1;

SELECT EXTRACT(YEAR FROM admitted) AS year, EXTRACT(QUARTER FROM admitted) AS quarter, COUNT(*) AS n FROM cohort GROUP BY ALL ORDER BY ALL;

SELECT EXTRACT(YEAR FROM admitted) AS year, AVG(los) AS los, COUNT(*) FILTER (WHERE los > 30) AS long_stays FROM cohort WHERE admitted BETWEEN DATE '2020-01-01' AND DATE '2022-12-31' GROUP BY 1 ORDER BY 1;

SELECT region, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM cohort GROUP BY region;

SELECT region, sex, COUNT(*) AS n FROM cohort GROUP BY ROLLUP (region, sex) ORDER BY region NULLS LAST, sex NULLS LAST;

SELECT SUM(wt * bmi) / SUM(wt) AS weighted_bmi, SUM(wt) AS population FROM cohort WHERE bmi IS NOT NULL;

WITH base AS (SELECT *, age >= 65 AS elderly FROM cohort), t AS (SELECT elderly, COUNT(*) AS n, AVG(los) AS los FROM base GROUP BY elderly) SELECT * FROM t ORDER BY elderly;

WITH eligible AS (SELECT * FROM cohort WHERE age >= 18 AND bmi IS NOT NULL AND sbp IS NOT NULL) SELECT CORR(bmi, sbp) AS r, REGR_SLOPE(sbp, bmi) AS slope, REGR_R2(sbp, bmi) AS r2, COUNT(*) AS n FROM eligible;

SELECT COUNT(DISTINCT patient_id) AS patients, COUNT(DISTINCT CASE WHEN died THEN patient_id END) AS deaths FROM cohort;

# code: QG204
# suggests: SELECT sex, 100.0 * COUNT(*) FILTER(WHERE died) / NULLIF(COUNT(died), 0) FROM cohort GROUP BY sex
SELECT sex, PROPORTION(died) AS p FROM cohort GROUP BY sex;

# code: QG207
# suggests: SELECT sex, COUNT(*), ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) FROM cohort GROUP BY sex
SELECT sex, COUNT(*) || ' (' || ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) || '%)' AS n_pct FROM cohort GROUP BY sex;

# code: QG204
# suggests: SELECT AVG(age), STDDEV(age) FROM cohort
SELECT PRINTF('%.1f (%.1f)', AVG(age), STDDEV(age)) AS age FROM cohort;

SELECT WIDTH_BUCKET(age, 20, 100, 8) AS b, COUNT(*) FROM cohort GROUP BY 1;

SELECT DATEDIFF('day', admitted, DATE '2024-01-01') AS d, COUNT(*) FROM cohort GROUP BY 1;

SELECT AVG(DATE_DIFF('day', admitted, DATE '2024-01-01')) AS d FROM cohort;

SELECT sex, AVG(bmi) AS b FROM cohort WHERE age BETWEEN 40 AND 60 OR age IS NULL GROUP BY sex;

# code: QG101
# suggests: SELECT CASE WHEN sex = 'female' THEN 1 ELSE 0 END AS f, COUNT(*) FROM cohort GROUP BY 1
SELECT IIF(sex = 'female', 1, 0) AS f, COUNT(*) FROM cohort GROUP BY 1;

SELECT COUNTIF(died) AS deaths FROM cohort;

# code: QG204
# suggests: SELECT CASE WHEN COUNT(*) <> 0 THEN SUM(CAST(died AS INT)) / COUNT(*) ELSE NULL END AS p FROM cohort
SELECT SAFE_DIVIDE(SUM(died::int), COUNT(*)) AS p FROM cohort;

SELECT calculated.x FROM (SELECT AVG(bmi) AS x FROM cohort) calculated;

SELECT MONTHNAME(admitted) AS m, COUNT(*) FROM cohort GROUP BY 1;

SELECT DAYNAME(admitted) AS m, COUNT(*) FROM cohort GROUP BY 1;

SELECT DATEPART('year', admitted) AS y, COUNT(*) FROM cohort GROUP BY 1;

SELECT a.sex, a.n, b.n AS total FROM (SELECT sex, COUNT(*) AS n FROM cohort GROUP BY sex) a CROSS JOIN (SELECT COUNT(*) AS n FROM cohort) b;

SELECT sex, 'age' AS variable, AVG(age) AS value FROM cohort GROUP BY sex UNION ALL SELECT sex, 'bmi', AVG(bmi) FROM cohort GROUP BY sex;

SELECT sex, LN(AVG(bmi)) AS l, EXP(AVG(LN(bmi))) AS geometric FROM cohort GROUP BY sex;

SELECT EXP(AVG(LN(los + 1))) - 1 AS g FROM cohort;

SELECT AVG(POWER(bmi - 25, 2)) AS v FROM cohort;

SELECT SUM(bmi > 30) AS obese FROM cohort;

# code: QG207
# suggests: SELECT DISTINCT sex, arm, COUNT(*) AS n FROM cohort GROUP BY sex, arm
SELECT DISTINCT sex, arm, COUNT(*) OVER (PARTITION BY sex, arm) AS n FROM cohort;

SELECT sex, region, COUNT(*) AS n FROM cohort GROUP BY sex, region QUALIFY ROW_NUMBER() OVER (PARTITION BY sex ORDER BY n DESC) = 1;

SELECT (SELECT COUNT(*) FROM cohort WHERE died) * 100.0 / (SELECT COUNT(*) FROM cohort) AS pct;

SELECT sex, MODE() WITHIN GROUP (ORDER BY region) AS m FROM cohort GROUP BY sex;

SELECT age / 10 * 10 AS decade, COUNT(*) FROM cohort GROUP BY decade;

SELECT CAST(age / 10 AS INT) AS decade, COUNT(*) FROM cohort GROUP BY 1;

SELECT age // 10 AS decade, COUNT(*) FROM cohort GROUP BY 1;
