-- dataset: cohort
-- Cohort studies: incidence, strata, standardised rates, dose and response.

SELECT SUM(died::int) AS deaths, SUM(los) / 365.25 AS person_years, SUM(died::int) / (SUM(los) / 365.25) AS rate FROM cohort WHERE los > 0;

SELECT sex, COUNT(*) FILTER (WHERE died) AS deaths, SUM(los) AS person_days,
       1000.0 * COUNT(*) FILTER (WHERE died) / SUM(los) AS rate_per_1000_days
FROM cohort GROUP BY sex;

SELECT CASE WHEN bmi < 18.5 THEN '1 underweight' WHEN bmi < 25 THEN '2 normal' WHEN bmi < 30 THEN '3 overweight' WHEN bmi >= 30 THEN '4 obese' END AS bmi_class,
       COUNT(*) AS n, AVG(died::int) AS risk, RANK() OVER (ORDER BY AVG(died::int) DESC) AS place
FROM cohort GROUP BY 1 ORDER BY 1;

WITH strata AS (SELECT age // 10 AS band, COUNT(*) AS n, AVG(died::int) AS risk FROM cohort GROUP BY band)
SELECT SUM(n * risk) / SUM(n) AS standardised FROM strata;

WITH strata AS (
  SELECT CASE WHEN age < 50 THEN 'young' WHEN age < 70 THEN 'middle' ELSE 'old' END AS band,
         AVG(CASE WHEN arm = 'treatment' THEN sbp END) AS treated,
         AVG(CASE WHEN arm = 'control' THEN sbp END) AS control
  FROM cohort GROUP BY 1)
SELECT band, treated - control AS difference FROM strata ORDER BY band;

SELECT education, AVG(sbp) AS sbp, AVG(sbp) - LAG(AVG(sbp)) OVER (ORDER BY education) AS step FROM cohort GROUP BY education ORDER BY education;

SELECT region, AVG(hba1c) AS mean, AVG(hba1c) - 1.96 * STDDEV(hba1c) / SQRT(COUNT(hba1c)) AS low, AVG(hba1c) + 1.96 * STDDEV(hba1c) / SQRT(COUNT(hba1c)) AS high
FROM cohort GROUP BY region;

SELECT arm, AVG(died::int) AS p, SQRT(AVG(died::int) * (1 - AVG(died::int)) / COUNT(died)) AS se FROM cohort GROUP BY arm;

SELECT COUNT(*) AS hypertensive FROM cohort WHERE sbp >= 140 OR dbp >= 90;

SELECT sex, COUNT(*) AS n, COUNT(*) - COUNT(hba1c) AS missing, 100.0 * (COUNT(*) - COUNT(hba1c)) / COUNT(*) AS missing_pct FROM cohort GROUP BY sex;

# code: QG206
SELECT AVG(sbp) FILTER (WHERE bmi > (SELECT AVG(bmi) FROM cohort)) AS heavier FROM cohort;

# code: QG206
SELECT COUNT(*) FROM cohort WHERE bmi > (SELECT MEDIAN(bmi) FROM cohort);

# code: QG206
SELECT COUNT(*) FROM cohort WHERE sbp > (SELECT AVG(sbp) + 2 * STDDEV(sbp) FROM cohort);

SELECT sex, COUNT(*) FILTER (WHERE los >= 14) AS long_stay, ROUND(AVG(CASE WHEN los >= 14 THEN 1 ELSE 0 END) * 100, 1) AS pct FROM cohort WHERE los IS NOT NULL GROUP BY sex;

SELECT age // 5 * 5 AS band, COUNT(*) AS n, COUNT(*) FILTER (WHERE died) AS deaths FROM cohort WHERE age BETWEEN 40 AND 79 GROUP BY band ORDER BY band;

SELECT MIN(education) AS lowest, MAX(education) AS highest FROM cohort;

SELECT AVG(LN(los + 1)) AS log_los, EXP(AVG(LN(los + 1))) - 1 AS geometric FROM cohort;

SELECT SUM(sbp * wt) / SUM(wt) AS weighted, SUM(wt) AS population FROM cohort WHERE sbp IS NOT NULL;

SELECT sex, SUM(wt) FILTER (WHERE smoker = 'yes') / SUM(wt) AS weighted_prevalence FROM cohort GROUP BY sex;

SELECT 1 - AVG(died::int) AS survival, LN(AVG(died::int) / (1 - AVG(died::int))) AS log_odds FROM cohort;
