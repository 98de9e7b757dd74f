# code: QG204
SELECT MEDIAN_OF_NOTHING(age) FROM patients;

# code: QG204
SELECT version() FROM patients;

# code: QG204
SELECT current_setting('memory_limit') FROM patients;

# code: QG204
SELECT getenv('HOME') FROM patients;

# code: QG204
SELECT random() FROM patients;

# code: QG204
SELECT now() FROM patients;

# code: QG204
SELECT current_date FROM patients;

# code: QG204
SELECT current_user FROM patients;

# code: QG204
SELECT LIST(age) FROM patients;

# code: QG204
SELECT STRING_AGG(city, ',') FROM patients;

# code: QG204
SELECT FIRST(age) FROM patients;

# code: QG204
SELECT ARG_MAX(age, sbp) FROM patients;

# code: QG204
SELECT HISTOGRAM(age) FROM patients;

# code: QG204
SELECT COUNT(*) FROM patients WHERE age > random();

# code: QG204
SELECT COUNT(*) FROM patients WHERE error(city);

# code: QG101
SELECT COUNT(*) FROM patients WHERE born = CONVERT('2020-02-29', DATE);

# code: QG207
SELECT main.avg(age) FROM patients;

# code: QG207
SELECT MIN(age, 2) FROM patients;

# code: QG207
SELECT COUNT(age, sbp) FROM patients;

# code: QG209
SELECT COUNT(NULL), AVG(NULL) FROM patients;

# code: QG207
SELECT COUNT(* EXCLUDE (age)) FROM patients;

# code: QG207
SELECT SUM(AVG(age)) FROM patients;
