-- What is out although much is in: windows over records, queries as values in conditions, chance, time, lists, files, other tables.
# code: QG211
SELECT sex, city, COUNT(*), AVG(weight) OVER (PARTITION BY sex) FROM patients GROUP BY sex, city;

# code: QG206
SELECT ROW_NUMBER() OVER (ORDER BY age) FROM patients;

# code: QG206
SELECT LAG(age) OVER (ORDER BY born) FROM patients;

# code: QG206
SELECT COUNT(*) FROM patients AS p WHERE age > (SELECT AVG(age) FROM patients AS q WHERE q.sex = p.sex);

# code: QG208
SELECT COUNT(*) FROM patients WHERE city IN (SELECT city FROM patients WHERE age > 40);

# code: QG208
SELECT COUNT(*) FROM patients WHERE city NOT IN (SELECT city FROM patients);

# code: QG206
SELECT COUNT(*) FROM patients AS p WHERE EXISTS (SELECT 1 FROM patients AS q WHERE q.age = p.age);

# code: QG206
SELECT COUNT(*) FROM patients WHERE NOT EXISTS (SELECT 1 FROM patients);

# code: QG206
SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*) > (SELECT 5 FROM patients);

# code: QG206
# suggests: SELECT COUNT(*) FROM (SELECT * FROM patients)
SELECT COUNT(*) FROM (SELECT * FROM patients LIMIT 10);

# code: QG206
# suggests: SELECT COUNT(*) FROM (SELECT * FROM patients ORDER BY age)
SELECT COUNT(*) FROM (SELECT * FROM patients ORDER BY age LIMIT 10);

# code: QG206
SELECT AVG(n) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n LIMIT 1);

# code: QG206
WITH RECURSIVE t AS (SELECT age FROM patients UNION ALL SELECT age + 1 FROM t WHERE age < 10) SELECT COUNT(*) FROM t;

# code: QG206
SELECT COUNT(*) FROM (SELECT age FROM patients UNION ALL SELECT age FROM patients);

# code: QG206
SELECT COUNT(*) FROM (SELECT age FROM patients WHERE age < 41 UNION ALL SELECT age FROM patients WHERE age > 39);

# code: QG206
SELECT COUNT(*) FROM (SELECT age FROM patients WHERE age < 40 UNION ALL SELECT age, sbp FROM patients WHERE age > 40);

# code: QG206
SELECT sex, COUNT(*) FROM patients GROUP BY sex UNION ALL SELECT COUNT(*) FROM patients;

# code: QG206
# suggests: SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM patients WHERE smoker
SELECT COUNT(*) FROM patients UNION SELECT COUNT(*) FROM patients WHERE smoker;

# code: QG206
SELECT COUNT(*) FROM patients UNION ALL BY NAME SELECT COUNT(*) FROM patients WHERE smoker;

# code: QG205
SELECT COUNT(*) FROM patients TABLESAMPLE RESERVOIR (10 ROWS);

# code: QG204
SELECT AVG(age + random()) FROM patients;

# code: QG204
SELECT AVG(age) FROM patients WHERE born < now();

# code: QG204
SELECT AVG(age) FROM patients WHERE born < current_date;

# code: QG204
SELECT AVG(date_diff('year', born, today())) FROM patients;

# code: QG204
# suggests: SELECT MIN(age), MAX(age) FROM patients
SELECT ANY_VALUE(age) FROM patients;

# code: QG204
SELECT LAST(sbp) FROM patients;

# code: QG204
# suggests: SELECT MIN(age), MAX(age) FROM patients
SELECT ARRAY_AGG(age) FROM patients;

# code: QG204
SELECT LISTAGG(city, ',') FROM patients;

# code: QG204
SELECT GROUP_CONCAT(sex) FROM patients;

# code: QG204
# suggests: SELECT COUNT(DISTINCT age) FROM patients
SELECT APPROX_COUNT_DISTINCT(age) FROM patients;

# code: QG204
# suggests: SELECT QUANTILE_CONT(age, 0.9) FROM patients
SELECT APPROX_QUANTILE(age, 0.9) FROM patients;

# code: QG204
SELECT PRODUCT(age) FROM patients;

# code: QG204
SELECT BIT_AND(age) FROM patients;

# code: QG207
# suggests: SELECT sex, COUNT(*) FROM patients GROUP BY sex
SELECT COUNT(DISTINCT sex, city) FROM patients;

# code: QG207
SELECT AVG(*) FROM patients;

# code: QG207
SELECT SUM(COALESCE(*, 1)) FROM patients;

# code: QG207
SELECT QUANTILE_CONT(age, 1.5) FROM patients;

# code: QG207
SELECT QUANTILE_CONT(age, weight) FROM patients;

# code: QG207
SELECT QUANTILE_CONT(age) FROM patients;

# code: QG207
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age DESC) FROM patients;

# code: QG207
SELECT PERCENTILE_CONT(0.5) FROM patients;

# code: QG101
SELECT CORR(age) FROM patients;

# code: QG209
SELECT CORR(age, sex) FROM patients;

# code: QG207
SELECT CI_LOW(age, 2) FROM patients;

# code: QG207
SELECT EXCEEDANCE(age) FROM patients;

# code: QG209
SELECT MEAN_DIFF(age, sex) FROM patients;

# code: QG209
SELECT RISK(age, smoker) FROM patients;

# code: QG209
# suggests: SELECT sex, COUNT(*) FROM patients GROUP BY sex
SELECT AVG(sex) FROM patients;

# code: QG209
# suggests: SELECT city, sex, COUNT(*) FROM patients GROUP BY sex, city
SELECT sex, AVG(city) FROM patients GROUP BY sex;

# code: QG209
# suggests: SELECT 100.0 * COUNT(*) FILTER(WHERE smoker) / COUNT(smoker) FROM patients
SELECT AVG(smoker) FROM patients;

# code: QG209
# suggests: SELECT MIN(born), MAX(born) FROM patients
SELECT MEDIAN(born) FROM patients;

# code: QG207
SELECT SUM(AVG(age)) FROM patients GROUP BY sex;

# code: QG207
SELECT AVG(MAX(age)) FROM patients;

# code: QG210
# suggests: SELECT FLOOR(weight / 50) * 50 AS weight, COUNT(*) FROM patients GROUP BY FLOOR(weight / 50) * 50
SELECT weight, COUNT(*) FROM patients GROUP BY weight;

# code: QG210
# suggests: SELECT FLOOR(weight / 50) * 50 AS weight, sex, AVG(age) FROM patients GROUP BY FLOOR(weight / 50) * 50, sex ORDER BY FLOOR(weight / 50) * 50
SELECT weight, sex, AVG(age) FROM patients GROUP BY weight, sex ORDER BY weight;

# code: QG210
SELECT weight + 1, COUNT(*) FROM patients GROUP BY 1;

# code: QG212
# suggests: SELECT YEAR(born), COUNT(*) FROM patients GROUP BY YEAR(born)
SELECT born, COUNT(*) FROM patients GROUP BY born;

# code: QG210
SELECT age + sbp, COUNT(*) FROM patients GROUP BY 1;

# code: QG210
SELECT SQRT(weight + 1), COUNT(*) FROM patients GROUP BY 1;

# code: QG210
SELECT pulse, COUNT(*) FROM patients GROUP BY pulse;

# code: QG212
SELECT age, sbp, COUNT(*) FROM patients GROUP BY age, sbp;

# code: QG101
SELECT COUNT(*) FROM patients GROUP BY CUBE (sex, city, smoker, age // 10, sbp // 10, born > '2000-01-01', weight > 1);

# code: QG211
# suggests: SELECT sex, AVG(age), COUNT(*) FROM patients GROUP BY sex
SELECT sex, age, COUNT(*) FROM patients GROUP BY sex;

# code: QG211
# suggests: SELECT sex, AVG(weight / 2), COUNT(*) FROM patients GROUP BY sex
SELECT sex, weight / 2, COUNT(*) FROM patients GROUP BY sex;

# code: QG211
SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING age > 40;

# code: QG201
# suggests: SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*) > 3
SELECT sex, COUNT(*) FROM patients HAVING COUNT(*) > 3;

# code: QG201
# suggests: SELECT AVG(age), AVG(sbp) FROM patients
SELECT age, sbp FROM patients ORDER BY age LIMIT 5;

# code: QG201
# suggests: SELECT AVG(age * 2) FROM patients
SELECT age * 2 FROM patients;

# code: QG205
# suggests: SELECT COUNT(*) FROM patients
SELECT COUNT(*) FROM patients JOIN regions ON patients.city = regions.city;

# code: QG205
SELECT COUNT(*) FROM patients AS a JOIN patients AS b ON a.age = b.age;

# code: QG205
SELECT COUNT(*) FROM patients p LEFT JOIN codes c USING (city);

# code: QG205
SELECT COUNT(*) FROM patients, (SELECT 1 AS one FROM patients) t;

# code: QG205
SELECT COUNT(*) FROM patients, LATERAL (SELECT age FROM patients) t;

# code: QG205
SELECT COUNT(*) FROM (PIVOT patients ON sex USING COUNT(*));

# code: QG205
SELECT COUNT(*) FROM sniff_csv('x.csv');

# code: QG205
SELECT COUNT(*) FROM parquet_scan('x.parquet');

# code: QG205
SELECT COUNT(*) FROM postgres_scan('', '', '');

# code: QG205
SELECT COUNT(*) FROM generate_series(1, 10);

# code: QG205
SELECT COUNT(*) FROM pg_catalog.patients;

# code: QG203
# suggests: SELECT COUNT(*) FROM patients WHERE city = 'Wien' AND age > 30
SELECT COUNT(*) FROM patients WHERE city = "Wien" AND age > 30;

# code: QG207
SELECT COUNT(*) FROM patients WHERE weight % 2 = 1;

# code: QG207
SELECT COUNT(*) FROM patients WHERE SIN(weight) > 0;

# code: QG207
SELECT AVG(SIN(weight)) FROM patients;

# code: QG207
SELECT AVG(POWER(weight, age)) FROM patients;

# code: QG207
SELECT AVG(weight // 2) FROM patients;

# code: QG209
SELECT AVG(age::VARCHAR) FROM patients;

# code: QG207
SELECT AVG(CASE WHEN smoker THEN 1 ELSE 'a' END) FROM patients;

# code: QG207
SELECT COUNT(*) FROM patients WHERE city + 1 = 2;

# code: QG207
SELECT COUNT(*) FROM patients WHERE born + age > DATE '2000-01-01';

# code: QG208
SELECT COUNT(*) FROM patients WHERE weight LIKE '7%';

# code: QG208
SELECT COUNT(*) FROM patients WHERE city < sex;

# code: QG208
SELECT COUNT(*) FROM patients WHERE age = city;

# code: QG203
# suggests: SELECT COUNT(*) FROM patients WHERE age > 40 AND smoker
SELECT COUNT(*) FROM patients WHERE age > 40 AND mystery = 3 AND smoker;

# code: QG207
SELECT WIDTH_BUCKET(age, 100, 0, 10), COUNT(*) FROM patients GROUP BY 1;

# code: QG207
SELECT WIDTH_BUCKET(age, 0, sbp, 10), COUNT(*) FROM patients GROUP BY 1;

# code: QG207
SELECT WIDTH_BUCKET(age, 0, 100, 2.5), COUNT(*) FROM patients GROUP BY 1;

# code: QG207
SELECT WIDTH_BUCKET(WIDTH_BUCKET(age, 0, 100, 10), 0, 10, 2), COUNT(*) FROM patients GROUP BY 1;

# code: QG210
SELECT FLOOR(1 / weight), COUNT(*) FROM patients GROUP BY 1;

# code: QG208
SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex HAVING n > ALL (SELECT 1 FROM patients);

# code: QG204
# suggests: SELECT FLOOR(weight / 50) * 50, COUNT(*) FROM patients GROUP BY FLOOR(weight / 50) * 50
SELECT HISTOGRAM(weight) FROM patients;

# code: QG204
# suggests: SELECT FLOOR(age / 10) * 10, sex, COUNT(*) FROM patients GROUP BY sex, FLOOR(age / 10) * 10
SELECT sex, HISTOGRAM(age) FROM patients GROUP BY sex;

# code: QG208
# suggests: SELECT COUNT(*) FROM patients WHERE age > 40 HAVING COUNT(*) > 5
SELECT COUNT(*) FROM patients WHERE COUNT(*) > 5 AND age > 40;

# code: QG208
# suggests: SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING AVG(age) > 40
SELECT sex, COUNT(*) FROM patients WHERE AVG(age) > 40 GROUP BY sex;

# code: QG204
SELECT UNNEST([1, 2]) FROM patients;

# code: QG204
SELECT STRUCT_PACK(a := age) FROM patients;

# code: QG204
SELECT AVG(age) FROM patients WHERE city = CHR(71);

# code: QG204
SELECT AVG(age) FROM patients WHERE hash(city) = 1;

# code: QG204
SELECT AVG(nextval('s')) FROM patients;

# code: QG204
SELECT uuid(), COUNT(*) FROM patients;

# code: QG207
SELECT WIDTH_BUCKET(age, 0, 100), COUNT(*) FROM patients GROUP BY 1;

# code: QG209
SELECT city, MEDIAN(CASE WHEN age < 40 THEN 0.5 ELSE 1.0 END) FROM patients GROUP BY city;

# code: QG209
SELECT city, MEDIAN(age * 0.1), COUNT(*) FROM patients GROUP BY city;

# code: QG209
SELECT MEDIAN(CAST(age AS FLOAT) / 3) FROM patients;

# code: QG209
SELECT MEDIAN(m) FROM (SELECT city, SUM(age * 0.1) AS m FROM patients GROUP BY city);

# code: QG206
SELECT SUM(rn) FROM (SELECT RANK() OVER (ORDER BY age) AS rn FROM patients);

# code: QG206
SELECT COUNT(*) FROM (SELECT RANK() OVER (ORDER BY age) AS rn FROM patients) WHERE rn < 5;

# code: QG206
SELECT COUNT(*) FROM (SELECT age FROM patients QUALIFY ROW_NUMBER() OVER (ORDER BY age) = 1);

# code: QG206
SELECT SUM(age) OVER (ORDER BY age), COUNT(*) FROM patients;

# code: QG206
SELECT AVG(SUM(age) OVER (ORDER BY age)) FROM patients;

# code: QG206
SELECT sex, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS t FROM patients GROUP BY sex HAVING t > 3;

# code: QG206
SELECT sex, SUM(COUNT(*)) OVER (ORDER BY sex ROWS 2 PRECEDING) FROM patients GROUP BY sex;

# code: QG206
SELECT sex, SUM(COUNT(*)) OVER (PARTITION BY age) FROM patients GROUP BY sex;

# code: QG206
SELECT sex, MAX(r) OVER () FROM (SELECT sex, RANK() OVER (ORDER BY COUNT(*)) AS r FROM patients GROUP BY sex);

# code: QG206
SELECT (SELECT age FROM patients);

# code: QG206
SELECT (SELECT COUNT(*) FROM patients GROUP BY sex);

# code: QG206
SELECT COUNT(*) FROM patients WHERE EXISTS (SELECT 1 FROM patients WHERE smoker);

# code: QG208
SELECT COUNT(*) FROM patients WHERE city IN (SELECT city FROM patients WHERE age > 100) OR age > 3;

# code: QG209
SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING MODE(city) = 'Graz';

# code: QG209
SELECT COUNT(*) FROM (SELECT sex, BOOL_OR(smoker) AS m FROM patients GROUP BY sex) WHERE m;

# code: QG214
SELECT sex, QUANTILE_CONT(age, [0.25, 0.5]) AS q FROM patients GROUP BY sex ORDER BY q;

# code: QG204
SELECT COUNT(*) FROM patients WHERE born < CURRENT_DATE;
