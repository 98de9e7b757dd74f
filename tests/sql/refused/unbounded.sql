-- Divisors that may be zero, functions without a result, numbers beyond 64 bits: some records decide, not the text.
# code: QG215
SELECT AVG(age / weight) FROM patients;

# code: QG215
SELECT AVG(1 / weight) FROM patients;

# code: QG215
SELECT AVG(1 / (age - 40)) FROM patients;

# code: QG215
SELECT AVG(LN(weight)) FROM patients;

# code: QG215
SELECT AVG(SQRT(weight)) FROM patients;

# code: QG215
SELECT AVG(LOG10(weight)) FROM patients;

# code: QG215
SELECT AVG(POWER(weight, -1)) FROM patients;

# code: QG215
SELECT AVG(POWER(weight, 0.5)) FROM patients;

# code: QG215
SELECT SUM(pulse * pulse) FROM patients;

# code: QG215
SELECT SUM(pulse + pulse) FROM patients;

# code: QG215
SELECT AVG(EXP(pulse)) FROM patients;

# code: QG215
SELECT COUNT(*) / (COUNT(*) - COUNT(*)) FROM patients;

# code: QG215
SELECT AVG(sbp) / MIN(weight + 0.5) FROM patients;

# code: QG215
SELECT sex, AVG(sbp) / MIN(age) FROM patients GROUP BY sex;

# code: QG215
SELECT COUNT(*) / COUNT(sbp) FROM patients WHERE sbp IS NULL;

# code: QG215
SELECT LN(COUNT(*) - 80) FROM patients;

# code: QG215
SELECT SUM(CAST(weight * 1e300 AS BIGINT)) FROM patients;

# code: QG215
SELECT COUNT(*) FROM patients WHERE age / weight > 2;

# code: QG215
SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING 1 / MIN(age) > 0;

# code: QG215
SELECT AVG(x) FROM (SELECT age / weight AS x FROM patients);
