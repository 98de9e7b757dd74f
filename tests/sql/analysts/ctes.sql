-- dataset: cohort
-- Steps with WITH, subqueries in FROM, derived columns.

WITH adults AS (SELECT * FROM cohort WHERE age >= 18) SELECT COUNT(*) FROM adults;

WITH adults AS (
  SELECT *, CASE WHEN bmi >= 30 THEN 1 ELSE 0 END AS obese FROM cohort WHERE age >= 18
), known AS (
  SELECT * FROM adults WHERE bmi IS NOT NULL
)
SELECT sex, COUNT(*) AS n, SUM(obese) AS obese, AVG(obese) AS prevalence FROM known GROUP BY sex;

WITH flagged AS (
  SELECT arm, age, sex, (sbp >= 140 OR dbp >= 90) AS hypertension FROM cohort
)
SELECT arm, COUNT(*) FILTER (WHERE hypertension) AS n, AVG(hypertension::int) AS prevalence FROM flagged GROUP BY arm;

SELECT age_group, COUNT(*) AS n, AVG(bmi) AS bmi
FROM (SELECT bmi, CASE WHEN age < 45 THEN 'young' WHEN age < 65 THEN 'middle' ELSE 'old' END AS age_group FROM cohort) AS x
GROUP BY age_group ORDER BY age_group;

WITH base AS (SELECT sex, bmi, age FROM cohort WHERE region = 'north')
SELECT b.sex, AVG(b.bmi) AS bmi, COUNT(*) AS n FROM base AS b WHERE b.age > 30 GROUP BY b.sex;

WITH per_region AS (SELECT region, AVG(bmi) AS bmi, COUNT(*) AS n FROM cohort GROUP BY region)
SELECT AVG(bmi) AS mean_of_means, MIN(bmi) AS lowest, MAX(bmi) AS highest FROM per_region;

WITH per_region AS (SELECT region, AVG(bmi) AS bmi FROM cohort GROUP BY region)
SELECT region, bmi FROM per_region WHERE bmi > 26 ORDER BY bmi DESC;

WITH total AS (SELECT COUNT(*) AS n FROM cohort)
SELECT sex, COUNT(*) AS n, 100.0 * COUNT(*) / (SELECT n FROM total) AS pct FROM cohort GROUP BY sex;

WITH total AS (SELECT COUNT(*) AS total FROM cohort), by_sex AS (SELECT sex, COUNT(*) AS n FROM cohort GROUP BY sex)
SELECT sex, n, 100.0 * n / total AS pct FROM by_sex CROSS JOIN total;

WITH a AS (SELECT AVG(sbp) AS m FROM cohort WHERE arm = 'treatment'), b AS (SELECT AVG(sbp) AS m FROM cohort WHERE arm = 'control')
SELECT a.m - b.m AS difference FROM a, b;

SELECT (SELECT AVG(sbp) FROM cohort WHERE arm = 'treatment') - (SELECT AVG(sbp) FROM cohort WHERE arm = 'control') AS difference;

SELECT sex, AVG(age) AS age, AVG(age) - (SELECT AVG(age) FROM cohort) AS from_overall FROM cohort GROUP BY sex;

WITH ranked AS (
  SELECT region, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM cohort GROUP BY region
)
SELECT region, n FROM ranked WHERE r <= 2;

WITH counted AS (SELECT education, COUNT(*) AS n FROM cohort GROUP BY education)
SELECT education, n, n * 1.0 / (SELECT SUM(n) FROM counted) AS share FROM counted;

SELECT AVG(n) AS mean_size FROM (SELECT region, education, COUNT(*) AS n FROM cohort GROUP BY region, education) AS t WHERE n > 3;

WITH x AS (SELECT sex, died, COUNT(*) AS n FROM cohort GROUP BY sex, died)
SELECT sex, SUM(CASE WHEN died THEN n ELSE 0 END) * 1.0 / SUM(n) AS risk FROM x GROUP BY sex;

WITH z AS (SELECT (sbp - 120) / 15.0 AS z FROM cohort) SELECT AVG(z) AS mean, STDDEV_SAMP(z) AS sd FROM z;

# code: QG209
SELECT sex, COUNT(*) FROM (SELECT DISTINCT patient_id, sex FROM cohort) AS p GROUP BY sex;
