# code: QG209
SELECT COUNT(*) FROM patients WHERE age = DATE '2020-02-29';

# code: QG209
SELECT COUNT(*) FROM patients WHERE age;

# code: QG209
SELECT COUNT(*) FROM patients WHERE weight = '0.5';

# code: QG209
SELECT COUNT(*) FROM patients WHERE city = 40;

# code: QG209
SELECT COUNT(*) FROM patients WHERE born = 18321;

# code: QG209
SELECT COUNT(*) FROM patients WHERE born = '2020-02-30';

# code: QG209
SELECT COUNT(*) FROM patients WHERE born = '29.2.2020';

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
SELECT COUNT(*) FROM patients WHERE pulse = 9.007199254740993e15;

# code: QG209
SELECT COUNT(*) FROM patients WHERE age = 1e;

# code: QG209
SELECT SUM(city) FROM patients;

# code: QG209
SELECT AVG(born) FROM patients;

# code: QG209
SELECT MIN(smoker) > FALSE FROM patients;

# code: QG207
SELECT EXCEEDANCE(age, DATE '2020-02-29') FROM patients;

# code: QG207
SELECT QUANTILE_CONT(age, DATE '1970-01-01') FROM patients;
