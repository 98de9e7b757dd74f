-- dataset: cohort
-- One row per variable or group, one column per category.

SELECT region,
       SUM(CASE WHEN education = 'primary' THEN 1 ELSE 0 END)   AS n_primary,
       SUM(CASE WHEN education = 'secondary' THEN 1 ELSE 0 END) AS n_secondary,
       SUM(CASE WHEN education = 'tertiary' THEN 1 ELSE 0 END)  AS n_tertiary
FROM cohort GROUP BY region ORDER BY region;

SELECT region,
       COUNT(CASE WHEN sex = 'female' THEN 1 END) AS women,
       COUNT(CASE WHEN sex = 'male' THEN 1 END)   AS men
FROM cohort GROUP BY region;

SELECT
  SUM(CASE WHEN arm = 'control' AND died THEN 1 ELSE 0 END)       AS a,
  SUM(CASE WHEN arm = 'control' AND NOT died THEN 1 ELSE 0 END)   AS b,
  SUM(CASE WHEN arm = 'treatment' AND died THEN 1 ELSE 0 END)     AS c,
  SUM(CASE WHEN arm = 'treatment' AND NOT died THEN 1 ELSE 0 END) AS d
FROM cohort;

SELECT education,
       AVG(CASE WHEN sex = 'female' THEN bmi END) AS bmi_women,
       AVG(CASE WHEN sex = 'male' THEN bmi END)   AS bmi_men
FROM cohort GROUP BY education;

SELECT education, AVG(bmi) FILTER (sex = 'female') AS bmi_women, AVG(bmi) FILTER (sex = 'male') AS bmi_men FROM cohort GROUP BY education;

SELECT arm,
       SUM(IF(smoker = 'yes', 1, 0)) AS smokers,
       SUM(IF(smoker = 'no', 1, 0)) AS non_smokers,
       SUM(IF(smoker IS NULL, 1, 0)) AS unknown
FROM cohort GROUP BY arm;

SELECT 'women' AS grp, COUNT(*) AS n, AVG(age) AS age FROM cohort WHERE sex = 'female'
UNION ALL
SELECT 'men', COUNT(*), AVG(age) FROM cohort WHERE sex = 'male'
UNION ALL
SELECT 'all', COUNT(*), AVG(age) FROM cohort;

SELECT region, SUM(sex = 'female') AS women FROM cohort GROUP BY region;

SELECT SUM((bmi >= 30)::int) AS obese, SUM((bmi >= 30)::integer * (sex = 'female')::integer) AS obese_women FROM cohort;

SELECT SUM(CASE sex WHEN 'female' THEN 1 WHEN 'male' THEN 0 END) AS women FROM cohort;

SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE sbp >= 140) AS stage2, COUNT(*) FILTER (WHERE sbp >= 130 AND sbp < 140) AS stage1,
       COUNT(*) FILTER (WHERE sbp < 130) AS lower, COUNT(*) FILTER (WHERE sbp IS NULL) AS unknown
FROM cohort;

# code: QG202
PIVOT cohort ON sex USING COUNT(*) GROUP BY region;

SELECT arm, SUM(n) AS n, MAX(n) AS largest_stratum FROM (SELECT arm, region, sex, COUNT(*) AS n FROM cohort GROUP BY arm, region, sex) GROUP BY arm;

# code: QG101
SELECT decode(sex, 'female', 1, 0) AS f, COUNT(*) FROM cohort GROUP BY 1;

SELECT nullif(smoker, 'no') AS smoker, COUNT(*) FROM cohort GROUP BY 1;
