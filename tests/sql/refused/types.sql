# code: QG209
SELECT COUNT(*) FROM patients WHERE age = '40';

# code: QG209
SELECT COUNT(*) FROM patients WHERE age = TRUE;

# code: QG209
SELECT COUNT(*) FROM patients WHERE age = DATE '2020-02-29';

# code: QG209
SELECT COUNT(*) FROM patients WHERE age;

# code: QG209
SELECT COUNT(*) FROM patients WHERE age IS TRUE;

# code: QG209
SELECT COUNT(*) FROM patients WHERE weight = '0.5';

# code: QG209
SELECT COUNT(*) FROM patients WHERE city = 40;

# code: QG209
SELECT COUNT(*) FROM patients WHERE smoker = 'true';

# code: QG209
SELECT COUNT(*) FROM patients WHERE smoker = 1;

# code: QG209
SELECT COUNT(*) FROM patients WHERE born = 18321;

# code: QG209
SELECT COUNT(*) FROM patients WHERE born = '2020-02-30';

# code: QG209
SELECT COUNT(*) FROM patients WHERE born = '29.2.2020';

# code: QG209
SELECT COUNT(*) FROM patients WHERE born = 'infinity';

# code: QG209
SELECT COUNT(*) FROM patients WHERE born = TIMESTAMP '2020-02-29 00:00:00';

# code: QG209
SELECT COUNT(*) FROM patients WHERE born = '٢٠٢٠-٠٢-٢٩';

-- Where DuckDB would compare after a conversion that rounds.
# code: QG209
SELECT COUNT(*) FROM patients WHERE weight = 0.1000000000000000055;

# code: QG209
SELECT COUNT(*) FROM patients WHERE weight = 695737367714530000000;

# code: QG209
SELECT COUNT(*) FROM patients WHERE weight < 1e400;

# code: QG209
SELECT COUNT(*) FROM patients WHERE age = 1e-5;

# code: QG209
SELECT COUNT(*) FROM patients WHERE pulse = 9.007199254740993e15;

# code: QG209
SELECT COUNT(*) FROM patients WHERE age = 1e99;

# code: QG209
SELECT COUNT(*) FROM patients WHERE age IN (40.00000000000000001, 5e1);

# code: QG209
SELECT COUNT(*) FROM patients WHERE age BETWEEN 40.00000000000000001 AND 5e1;

# code: QG209
SELECT COUNT(*) FROM patients WHERE age IN (9007199254740993, 1e0);

# code: QG209
SELECT COUNT(*) FROM patients WHERE age < 100000000000000000000000;

# code: QG209
SELECT COUNT(*) FROM patients WHERE age < 40.0000000000000000001;

# code: QG209
SELECT COUNT(*) FROM patients WHERE age = 1e;

# code: QG209
SELECT SUM(city) FROM patients;

# code: QG209
SELECT AVG(born) FROM patients;

# code: QG209
SELECT MIN(smoker) FROM patients;
