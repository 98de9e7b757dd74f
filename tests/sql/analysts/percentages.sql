-- dataset: cohort
-- Percentages of a total, of a row, of a column.

SELECT sex, COUNT(*) AS n, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS pct FROM cohort GROUP BY sex;

SELECT region, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS pct FROM cohort GROUP BY region ORDER BY pct DESC;

SELECT region, ROUND(COUNT(*) * 100.0 / SUM(COUNT(*)) OVER (), 2) AS pct FROM cohort WHERE age >= 65 GROUP BY region;

SELECT arm, smoker, COUNT(*) AS n,
       ROUND(100 * COUNT(*)::float / SUM(COUNT(*)) OVER (PARTITION BY arm), 1) AS row_pct
FROM cohort GROUP BY arm, smoker;

SELECT arm, smoker, COUNT(*) AS n,
       COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY arm) AS of_arm,
       COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY smoker) AS of_smoking,
       COUNT(*) / SUM(COUNT(*)) OVER () AS of_all
FROM cohort GROUP BY arm, smoker;

SELECT education, CAST(COUNT(*) AS DOUBLE) / SUM(COUNT(*)) OVER () AS share FROM cohort GROUP BY education;

SELECT diabetes, COUNT(*) AS n, 100 * CAST(COUNT(*) AS DECIMAL(10, 2)) / SUM(COUNT(*)) OVER () AS pct FROM cohort GROUP BY diabetes;

SELECT education, COUNT(*) AS n, 100.0 * COUNT(*) / (SELECT COUNT(*) FROM cohort) AS pct FROM cohort GROUP BY education;

WITH t AS (SELECT sex, COUNT(*) AS n FROM cohort GROUP BY sex)
SELECT sex, n, 100.0 * n / SUM(n) OVER () AS pct FROM t ORDER BY sex;

WITH counts AS (
  SELECT arm, smoker, COUNT(*) AS n
  FROM cohort
  GROUP BY arm, smoker
)
SELECT arm, smoker, n, ROUND(100.0 * n / SUM(n) OVER (PARTITION BY arm), 1) AS pct
FROM counts
ORDER BY arm, smoker;

SELECT arm, AVG(CASE WHEN died THEN 100.0 ELSE 0 END) AS mortality_pct FROM cohort GROUP BY arm;

SELECT arm, 100.0 * SUM(CASE WHEN died THEN 1 ELSE 0 END) / COUNT(*) AS mortality_pct FROM cohort GROUP BY arm;

SELECT arm, SUM(died::int) * 100.0 / COUNT(*) AS mortality FROM cohort GROUP BY arm;

SELECT arm, 100 * AVG(died::int) AS mortality FROM cohort GROUP BY arm;

SELECT arm, AVG(died::float) AS mortality FROM cohort GROUP BY arm;

SELECT arm, COUNT(CASE WHEN died THEN 1 END)::float / COUNT(*) AS mortality FROM cohort GROUP BY arm;

SELECT arm, COUNT(*) FILTER (WHERE died)::numeric / COUNT(*) AS mortality FROM cohort GROUP BY arm;

SELECT arm, (COUNT(*) FILTER (WHERE died))::decimal(12, 4) / NULLIF(COUNT(*), 0) AS mortality FROM cohort GROUP BY arm;

SELECT arm, 1.0 * SUM(IF(died, 1, 0)) / COUNT(died) AS mortality FROM cohort GROUP BY arm;

SELECT COUNT_IF(smoker = 'yes') / COUNT(*) AS smokers FROM cohort;

SELECT COUNT(*) FILTER (WHERE smoker = 'yes') * 1.0 / COUNT(*) FILTER (WHERE smoker IN ('yes', 'no')) AS among_known FROM cohort;

SELECT sex, 100.0 * COUNT(*) FILTER (WHERE smoker = 'yes') / NULLIF(COUNT(smoker), 0) AS pct FROM cohort GROUP BY sex;

SELECT education, sex, COUNT(*) AS n, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY education) AS pct
FROM cohort GROUP BY 1, 2 ORDER BY ALL;

SELECT age // 10 * 10 AS decade, COUNT(*) AS n, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS pct,
       SUM(COUNT(*)) OVER (ORDER BY age // 10 * 10) AS cumulative
FROM cohort GROUP BY decade ORDER BY decade;

SELECT region, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS total FROM cohort GROUP BY region;

SELECT region, AVG(bmi) AS bmi, AVG(bmi) - AVG(AVG(bmi)) OVER () AS from_mean_of_regions FROM cohort GROUP BY region;

# code: QG204
SELECT printf('%.1f', 100.0 * COUNT(*) FILTER (WHERE died) / COUNT(*)) AS pct FROM cohort;

# code: QG207
SELECT COUNT(*) || ' (' || ROUND(100.0 * AVG(died::int), 1) || '%)' AS n_pct FROM cohort;
