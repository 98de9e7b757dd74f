-- dataset: cohort
-- Baseline characteristics, as they stand in the first table of a paper.

SELECT COUNT(*) AS n FROM cohort;

SELECT arm, COUNT(*) AS n FROM cohort GROUP BY arm ORDER BY arm;

SELECT
  arm,
  COUNT(*)                       AS n,
  ROUND(AVG(age), 1)             AS age_mean,
  ROUND(STDDEV(age), 1)          AS age_sd,
  ROUND(AVG(bmi), 1)             AS bmi_mean,
  ROUND(STDDEV(bmi), 1)          AS bmi_sd
FROM cohort
GROUP BY arm
ORDER BY arm;

SELECT arm, sex, COUNT(*) AS n, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY arm) AS pct
FROM cohort GROUP BY arm, sex ORDER BY arm, sex;

SELECT 'female, n (%)' AS characteristic,
       COUNT(*) FILTER (WHERE sex = 'female') AS n,
       ROUND(100.0 * COUNT(*) FILTER (WHERE sex = 'female') / COUNT(*), 1) AS pct
FROM cohort;

SELECT COUNT(DISTINCT patient_id) AS patients, COUNT(*) AS records FROM cohort;

SELECT sex, COUNT(*) AS n, AVG(age) AS mean_age, MEDIAN(age) AS median_age, MIN(age), MAX(age) FROM cohort GROUP BY sex;

select c.sex, count(*) n, avg(c.sbp) sbp, avg(c.dbp) dbp, avg(c.hba1c) hba1c from cohort c group by c.sex order by c.sex;

SELECT
    education,
    COUNT(*) AS n,
    AVG(CASE WHEN diabetes = 'yes' THEN 1.0 ELSE 0.0 END) AS diabetes_prevalence,
    AVG(CASE WHEN smoker = 'yes' THEN 1.0 ELSE 0.0 END)   AS smoking_prevalence
FROM cohort
GROUP BY education
ORDER BY education;

SELECT arm,
       SUM(CASE WHEN sex = 'female' THEN 1 ELSE 0 END) AS women,
       SUM(CASE WHEN sex = 'male' THEN 1 ELSE 0 END)   AS men,
       SUM(CASE WHEN smoker = 'yes' THEN 1 ELSE 0 END) AS smokers,
       SUM(CASE WHEN smoker IS NULL THEN 1 ELSE 0 END) AS smoking_unknown
FROM cohort GROUP BY arm;

SELECT COUNT(*) AS total, COUNT(bmi) AS bmi_known, COUNT(*) - COUNT(bmi) AS bmi_missing,
       100.0 * (COUNT(*) - COUNT(bmi)) / COUNT(*) AS bmi_missing_pct
FROM cohort;

SELECT 'age' AS variable, AVG(age) AS mean, STDDEV_SAMP(age) AS sd FROM cohort
UNION ALL
SELECT 'bmi', AVG(bmi), STDDEV_SAMP(bmi) FROM cohort
UNION ALL
SELECT 'sbp', AVG(sbp), STDDEV_SAMP(sbp) FROM cohort;

SELECT CASE WHEN age < 40 THEN '18-39' WHEN age < 60 THEN '40-59' ELSE '60+' END AS age_group,
       COUNT(*) AS n, AVG(sbp) AS sbp
FROM cohort
GROUP BY 1
ORDER BY 1;

SELECT CASE WHEN bmi < 18.5 THEN 'underweight'
            WHEN bmi < 25 THEN 'normal'
            WHEN bmi < 30 THEN 'overweight'
            WHEN bmi >= 30 THEN 'obese'
            ELSE 'missing' END AS bmi_class,
       COUNT(*) AS n,
       ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS percent
FROM cohort
GROUP BY bmi_class
ORDER BY n DESC;

SELECT arm,
       COUNT(*) AS n,
       AVG(age)::numeric(5,1) AS age,
       AVG((sex = 'female')::int) AS female,
       AVG((bmi >= 30)::int) AS obese,
       AVG((sbp >= 140 OR dbp >= 90)::int) AS hypertensive
FROM cohort GROUP BY arm;

SELECT arm, COUNT_IF(diabetes = 'yes') AS diabetics, COUNT_IF(diabetes = 'no') AS others FROM cohort GROUP BY arm;

SELECT arm, quantile_cont(los, [0.25, 0.5, 0.75]) AS los_quartiles FROM cohort GROUP BY arm;

SELECT arm, MODE(education) AS commonest_education, MODE(region) AS commonest_region FROM cohort GROUP BY arm;

SELECT sex, arm, COUNT(*) AS n, AVG(bmi) AS bmi FROM cohort GROUP BY CUBE (sex, arm) ORDER BY sex, arm;

SELECT COALESCE(smoker, 'unknown') AS smoker, COUNT(*) AS n FROM cohort GROUP BY COALESCE(smoker, 'unknown') ORDER BY n DESC;

SELECT arm, sex || ', ' || education AS stratum, COUNT(*) FROM cohort GROUP BY arm, stratum ORDER BY 1, 2;

SELECT COUNT(*) AS n, AVG(age) AS age, VAR_SAMP(age) AS age_var, SKEWNESS(los) AS los_skew FROM cohort WHERE died;

SELECT died, COUNT(*) AS n, AVG(age) AS age, AVG(los) AS los FROM cohort GROUP BY died;

SELECT arm, AVG(bmi) - 1.96 * STDDEV(bmi) / SQRT(COUNT(bmi)) AS lower, AVG(bmi) + 1.96 * STDDEV(bmi) / SQRT(COUNT(bmi)) AS upper
FROM cohort GROUP BY arm;

SELECT MIN(admitted) AS first_admission, MAX(admitted) AS last_admission, COUNT(DISTINCT region) AS regions FROM cohort;
