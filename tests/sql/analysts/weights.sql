-- dataset: cohort
-- Survey weights.

SELECT SUM(wt) AS population FROM cohort;

SELECT SUM(wt * bmi) / SUM(wt) AS weighted_mean FROM cohort WHERE bmi IS NOT NULL;

SELECT sex, SUM(wt * age) / SUM(wt) AS weighted_age FROM cohort GROUP BY sex;

SELECT sex, SUM(sbp * wt) / NULLIF(SUM(wt), 0) AS weighted_sbp FROM cohort WHERE sbp IS NOT NULL GROUP BY sex;

SELECT SUM(CASE WHEN diabetes = 'yes' THEN wt ELSE 0 END) / SUM(wt) AS weighted_prevalence FROM cohort;

SELECT 100.0 * SUM(wt) FILTER (WHERE smoker = 'yes') / SUM(wt) AS weighted_pct FROM cohort WHERE smoker IS NOT NULL;

SELECT region, SUM(wt * (bmi >= 30)::int) / SUM(wt) AS obesity FROM cohort WHERE bmi IS NOT NULL GROUP BY region;

SELECT region, SUM(wt) AS population, 100.0 * SUM(wt) / SUM(SUM(wt)) OVER () AS pct FROM cohort GROUP BY region;

SELECT SUM(wt * bmi) / SUM(CASE WHEN bmi IS NOT NULL THEN wt END) AS weighted_mean FROM cohort;

SELECT SUM(wt * bmi) / SUM(wt) FILTER (WHERE bmi IS NOT NULL) AS weighted_mean FROM cohort;

SELECT SUM(wt) * SUM(wt) / SUM(wt * wt) AS effective_n FROM cohort;

SELECT arm, SUM(wt * died::int) / SUM(wt) AS weighted_risk FROM cohort GROUP BY arm;

SELECT arm, sex, SUM(wt) / SUM(SUM(wt)) OVER (PARTITION BY arm) AS share FROM cohort GROUP BY arm, sex;

SELECT SUM(wt * los) / SUM(wt) AS weighted_stay, AVG(los) AS plain_stay FROM cohort;
