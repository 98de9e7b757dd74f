-- Every statistic by its name in SQL, with FILTER, WITHIN GROUP and DISTINCT.
SELECT MEDIAN(age), MEDIAN(sbp), MEDIAN(weight) FROM patients;

SELECT QUANTILE_CONT(sbp, 0.9), QUANTILE_DISC(sbp, 0.9), QUANTILE(age, 0.25) FROM patients;

SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY weight), PERCENTILE_DISC(0.1) WITHIN GROUP (ORDER BY sbp) FROM patients;

SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY sbp ASC) AS p90, sex FROM patients GROUP BY sex;

SELECT QUANTILE_CONT(age, 0), QUANTILE_CONT(age, 1), QUANTILE_DISC(age, 0), QUANTILE_DISC(age, 1.0) FROM patients;

SELECT VAR_SAMP(age), VAR_POP(age), VARIANCE(age), STDDEV(age), STDDEV_SAMP(age), STDDEV_POP(age) FROM patients;

SELECT STDDEV_SAMP(sbp), VAR_POP(weight) FROM patients WHERE sex = 'F';

SELECT sex, STDDEV_SAMP(sbp) AS sd, CV(sbp) FROM patients GROUP BY sex ORDER BY sd;

SELECT SKEWNESS(age), KURTOSIS(age), KURTOSIS_POP(age) FROM patients;

SELECT SKEWNESS(weight), KURTOSIS(sbp) FROM patients WHERE weight < 50;

SELECT ENTROPY(age), ENTROPY(sbp) FROM patients;

SELECT sex, ENTROPY(age) FROM patients GROUP BY sex;

SELECT GEOMEAN(sbp), GEOMETRIC_MEAN(sbp), HARMONIC_MEAN(sbp) FROM patients;

SELECT MODE(age) FROM patients WHERE age <> 41;

SELECT MAD(age), MAD(sbp) FROM patients;

SELECT sex, MAD(weight) FROM patients GROUP BY sex;

SELECT IQR(age), IQR(sbp), VALUE_RANGE(age), VALUE_RANGE(weight) FROM patients;

SELECT CV(age), CV(sbp) FROM patients;

SELECT EXCEEDANCE(sbp, 120), EXCEEDANCE(age, 40.5), EXCEEDANCE(weight, 0.1) FROM patients;

SELECT CI_LOW(sbp), CI_HIGH(sbp), CI_LOW(age, 0.9), CI_HIGH(age, 0.9) FROM patients;

SELECT sex, CI_LOW(sbp), AVG(sbp), CI_HIGH(sbp) FROM patients GROUP BY sex;

SELECT CORR(sbp, age), COVAR_POP(sbp, age), COVAR_SAMP(sbp, age) FROM patients;

SELECT REGR_SLOPE(sbp, age), REGR_INTERCEPT(sbp, age), REGR_R2(sbp, age) FROM patients;

SELECT REGR_COUNT(sbp, weight), REGR_AVGX(sbp, weight), REGR_AVGY(sbp, weight) FROM patients;

SELECT sex, CORR(weight, age), REGR_SLOPE(weight, age) FROM patients GROUP BY sex;

SELECT CORR(sbp, weight) FROM patients WHERE age >= 40;

SELECT MEAN_DIFF(sbp, sex = 'F'), WELCH_T(sbp, sex = 'F'), WELCH_P(sbp, sex = 'F') FROM patients;

SELECT MEAN_DIFF(age, smoker), WELCH_T(age, smoker), WELCH_P(age, smoker) FROM patients;

SELECT RISK(smoker, sbp > 120), RISK_DIFF(smoker, sbp > 120), RISK_RATIO(smoker, sbp > 120) FROM patients;

SELECT ODDS_RATIO(smoker, sbp > 120), CHI_SQUARE(smoker, sbp > 120) FROM patients;

SELECT sex, RISK(age >= 40, smoker), CHI_SQUARE(age >= 40, smoker) FROM patients WHERE sex <> 'X' GROUP BY sex;

SELECT COUNT(DISTINCT city), COUNT(DISTINCT sex), COUNT(DISTINCT smoker), COUNT(DISTINCT age), COUNT(DISTINCT weight) FROM patients;

SELECT sex, COUNT(DISTINCT city), COUNT(DISTINCT born) FROM patients GROUP BY sex;

SELECT COUNT(DISTINCT age // 10), COUNT(DISTINCT LOWER(city)) FROM patients;

SELECT COUNT(*) FILTER (WHERE sbp > 120), COUNT(*) FILTER (smoker), AVG(age) FILTER (WHERE smoker) FROM patients;

SELECT COUNT(*) FILTER (WHERE sbp > 120 OR sbp IS NULL), SUM(sbp) FILTER (WHERE NOT smoker) FROM patients;

SELECT sex, MEDIAN(sbp) FILTER (WHERE age > 40), MAX(weight) FILTER (WHERE smoker) FROM patients GROUP BY sex;

SELECT CORR(sbp, age) FILTER (WHERE sex = 'M') FROM patients;

SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) FILTER (WHERE smoker) FROM patients;

SELECT COUNT_IF(sbp > 120), COUNTIF(smoker), COUNT_IF(sbp > 120 AND smoker) FROM patients;

SELECT FAVG(age), FSUM(sbp), MEAN(weight) FROM patients;

SELECT SUM(smoker), SUM(smoker::INT), AVG(smoker::INT) FROM patients;

SELECT AVG(age), MEDIAN(age), STDDEV_POP(age), MIN(age), MAX(age), COUNT(age), SUM(age), MODE(age) FROM patients;

SELECT MIN(born), MAX(born), QUANTILE_DISC(born, 0.5), MODE(born) FROM patients;

SELECT COUNT(1) FROM patients;

SELECT COUNT(DISTINCT city) FROM patients;

SELECT COUNT(*) FILTER (WHERE age > 40) FROM patients;
