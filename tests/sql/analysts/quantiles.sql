-- dataset: cohort
-- Medians, quartiles, percentiles.

SELECT MEDIAN(los) FROM cohort;

SELECT arm, MEDIAN(los) AS median_los, QUANTILE_CONT(los, 0.25) AS q1, QUANTILE_CONT(los, 0.75) AS q3 FROM cohort GROUP BY arm;

SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY bmi) AS median FROM cohort;

SELECT sex, PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age) AS q1, PERCENTILE_DISC(0.75) WITHIN GROUP (ORDER BY age) AS q3 FROM cohort GROUP BY sex;

SELECT QUANTILE_CONT(bmi, [0.05, 0.25, 0.5, 0.75, 0.95]) AS percentiles FROM cohort;

SELECT sex, QUANTILE_DISC(age, [0.25, 0.5, 0.75]) AS quartiles FROM cohort GROUP BY sex ORDER BY sex;

SELECT quantile(sbp, 0.9) AS p90, quantile(sbp, [0.1, 0.9]) AS tails FROM cohort;

# code: QG204
SELECT APPROX_QUANTILE(sbp, 0.5) FROM cohort;

# code: QG101
SELECT PERCENTILE_CONT(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY los) AS quartiles FROM cohort;

SELECT arm, QUANTILE_CONT(los, 0.75) - QUANTILE_CONT(los, 0.25) AS iqr FROM cohort GROUP BY arm;

SELECT IQR(los), MAD(los) FROM cohort;

SELECT MODE(los) AS commonest_stay FROM cohort;

SELECT MODE(smoker) AS commonest FROM cohort;

SELECT MODE() WITHIN GROUP (ORDER BY education) AS commonest FROM cohort;

SELECT sex, MODE(died) AS usual_outcome FROM cohort GROUP BY sex;

# code: QG209
SELECT MEDIAN(admitted) FROM cohort;

SELECT QUANTILE_DISC(admitted, 0.5) AS middle_day FROM cohort;

# code: QG206
SELECT NTILE(4) OVER (ORDER BY bmi) AS quartile, COUNT(*) FROM cohort GROUP BY quartile;

# code: QG207
SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY sbp DESC) AS p10 FROM cohort;

SELECT COUNT(*) FILTER (WHERE los <= 7) * 1.0 / COUNT(los) AS within_a_week FROM cohort;
