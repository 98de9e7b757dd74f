-- dataset: cohort
-- Risks, rates, ratios, standardised figures, tests.

SELECT SUM(died::int) / SUM(los) * 1000 AS deaths_per_1000_days FROM cohort WHERE los > 0;

SELECT arm, 1000.0 * COUNT(*) FILTER (WHERE died) / SUM(los) AS rate FROM cohort WHERE los >= 1 GROUP BY arm;

SELECT arm, 1000.0 * SUM(CASE WHEN died THEN 1 ELSE 0 END) / NULLIF(SUM(los), 0) AS rate FROM cohort GROUP BY arm;

SELECT ODDS_RATIO(smoker = 'yes', diabetes = 'yes') AS odds_ratio FROM cohort;

SELECT RISK_RATIO(arm = 'treatment', died) AS rr, RISK_DIFF(arm = 'treatment', died) AS rd FROM cohort;

SELECT sex, RISK_RATIO(smoker = 'yes', died) AS rr FROM cohort GROUP BY sex;

SELECT CHI_SQUARE(smoker = 'yes', died) AS chi2 FROM cohort WHERE age >= 40;

SELECT ODDS_RATIO(smoker, diabetes) FROM cohort;

SELECT (COUNT(*) FILTER (WHERE smoker = 'yes' AND diabetes = 'yes') * 1.0 * COUNT(*) FILTER (WHERE smoker = 'no' AND diabetes = 'no'))
     / NULLIF(COUNT(*) FILTER (WHERE smoker = 'yes' AND diabetes = 'no') * COUNT(*) FILTER (WHERE smoker = 'no' AND diabetes = 'yes'), 0) AS crude_or
FROM cohort;

SELECT AVG(CASE WHEN arm = 'treatment' THEN died::int END) / NULLIF(AVG(CASE WHEN arm = 'control' THEN died::int END), 0) AS rr FROM cohort;

SELECT AVG(CASE WHEN arm = 'treatment' THEN sbp END) - AVG(CASE WHEN arm = 'control' THEN sbp END) AS difference FROM cohort;

SELECT AVG(sbp) FILTER (WHERE arm = 'treatment') - AVG(sbp) FILTER (WHERE arm = 'control') AS difference FROM cohort;

SELECT MEAN_DIFF(sbp, arm = 'treatment') AS difference, WELCH_T(sbp, arm = 'treatment') AS t, WELCH_P(sbp, arm = 'treatment') AS p FROM cohort;

SELECT CORR(sbp, bmi) AS r, REGR_SLOPE(sbp, bmi) AS slope, REGR_INTERCEPT(sbp, bmi) AS intercept, REGR_R2(sbp, bmi) AS r2 FROM cohort;

SELECT sex, CORR(age, sbp) AS r, COVAR_SAMP(age, sbp) AS cov FROM cohort GROUP BY sex;

SELECT SUM(sbp) / COUNT(sbp) AS mean_by_hand, SUM(bmi) / COUNT(*) AS not_quite FROM cohort;

# code: QG215
SELECT SQRT(AVG(bmi * bmi) - AVG(bmi) * AVG(bmi)) AS sd_by_hand FROM cohort;

SELECT SQRT(GREATEST(AVG(POWER(bmi, 2)) - POWER(AVG(bmi), 2), 0)) AS sd_by_hand FROM cohort;

SELECT VAR_SAMP(sbp) / COUNT(sbp) AS squared_error FROM cohort;

SELECT STDDEV_SAMP(sbp) / SQRT(COUNT(sbp)) AS standard_error FROM cohort;

WITH strata AS (
  SELECT CASE WHEN age < 50 THEN 'young' ELSE 'old' END AS band, AVG(died::int) AS risk, COUNT(*) AS n
  FROM cohort GROUP BY band
)
SELECT SUM(risk * CASE WHEN band = 'young' THEN 0.6 ELSE 0.4 END) AS standardised_risk FROM strata;

SELECT 0.6 * AVG(died::int) FILTER (WHERE age < 50) + 0.4 * AVG(died::int) FILTER (WHERE age >= 50) AS standardised_risk FROM cohort;

SELECT arm, SUM(CASE WHEN age < 50 THEN 0.6 ELSE 0.4 END * died::int) AS weighted_deaths FROM cohort GROUP BY arm;

WITH by_age AS (
  SELECT age // 10 AS decade, COUNT(*) AS n, SUM(CASE WHEN died THEN 1 ELSE 0 END) AS deaths FROM cohort GROUP BY age // 10
)
SELECT SUM(deaths) AS deaths, SUM(n) AS n, SUM(deaths) * 1.0 / SUM(n) AS crude FROM by_age;

SELECT COUNT(*) FILTER (WHERE sex = 'male') * 1.0 / NULLIF(COUNT(*) FILTER (WHERE sex = 'female'), 0) AS sex_ratio FROM cohort;

SELECT LN(AVG(died::int) / (1 - AVG(died::int))) AS log_odds FROM cohort;

SELECT arm, AVG(died::int) AS p, SQRT(AVG(died::int) * (1 - AVG(died::int)) / COUNT(*)) AS se FROM cohort GROUP BY arm;

SELECT EXP(AVG(LN(los))) AS geometric_mean FROM cohort WHERE los > 0;

SELECT AVG(sbp - dbp) AS pulse_pressure, AVG((sbp + 2 * dbp) / 3) AS mean_arterial FROM cohort;

SELECT 100.0 * (MAX(bmi) - MIN(bmi)) / AVG(bmi) AS relative_spread FROM cohort;
