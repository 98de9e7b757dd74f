-- Conditions beyond a column against values.
SELECT COUNT(*) FROM patients WHERE age + sbp > 160;

SELECT COUNT(*) FROM patients WHERE sbp > age * 3;

SELECT COUNT(*) FROM patients WHERE sbp - age BETWEEN 70 AND 90;

SELECT COUNT(*) FROM patients WHERE weight * 2 > 1;

SELECT COUNT(*) FROM patients WHERE age / 3 = 13;

SELECT COUNT(*) FROM patients WHERE age // 10 = 4;

SELECT COUNT(*) FROM patients WHERE age % 2 = 1 AND age * age < 2000;

SELECT COUNT(*) FROM patients WHERE ROUND(weight, 1) = 0.1;

SELECT COUNT(*) FROM patients WHERE FLOOR(weight) = 0;

SELECT COUNT(*) FROM patients WHERE LN(sbp) < 4.7;

SELECT COUNT(*) FROM patients WHERE ABS(weight) < 0.3;

SELECT COUNT(*) FROM patients WHERE COALESCE(sbp, 120) = 120;

SELECT COUNT(*) FROM patients WHERE COALESCE(weight, 0) = 0;

SELECT COUNT(*) FROM patients WHERE NULLIF(sbp, 120) IS NULL;

SELECT COUNT(*) FROM patients WHERE GREATEST(age, sbp) > 120;

SELECT COUNT(*) FROM patients WHERE LEAST(age, sbp) IS NULL;

SELECT COUNT(*) FROM patients WHERE age + sbp IS NULL;

SELECT COUNT(*) FROM patients WHERE age + sbp IS NOT NULL AND weight + 1 IS NULL;

SELECT COUNT(*) FROM patients WHERE age IN (sbp, 40, 41);

SELECT COUNT(*) FROM patients WHERE age NOT IN (sbp, 40);

SELECT COUNT(*) FROM patients WHERE weight IN (0.1, 0.5, 70.5);

SELECT COUNT(*) FROM patients WHERE age IS DISTINCT FROM sbp;

SELECT COUNT(*) FROM patients WHERE sbp IS NOT DISTINCT FROM age;

SELECT COUNT(*) FROM patients WHERE CASE WHEN smoker THEN sbp > 120 ELSE age > 40 END;

SELECT COUNT(*) FROM patients WHERE CASE sex WHEN 'F' THEN 1 WHEN 'M' THEN 2 END = 2;

SELECT COUNT(*) FROM patients WHERE IF(smoker, age, sbp) > 100;

SELECT COUNT(*) FROM patients WHERE city LIKE '%r%' AND city NOT LIKE 'G_az';

SELECT COUNT(*) FROM patients WHERE city LIKE '%\%%' ESCAPE '\' OR city ILIKE 'GRAZ';

SELECT COUNT(*) FROM patients WHERE UPPER(city) IN ('GRAZ', 'WIEN');

SELECT COUNT(*) FROM patients WHERE LENGTH(city) BETWEEN 4 AND 5;

SELECT COUNT(*) FROM patients WHERE SUBSTRING(city, 1, 1) = 'G' OR LEFT(city, 2) = 'Wi' OR RIGHT(city, 1) = 'z';

SELECT COUNT(*) FROM patients WHERE STARTS_WITH(city, 'L') OR CONTAINS(city, 'rie') OR ENDS_WITH(city, 'n');

SELECT COUNT(*) FROM patients WHERE CONCAT(city, '!') = 'Graz!' OR TRIM(city) = '' OR REPLACE(city, 'z', 's') = 'Gras';

SELECT COUNT(*) FROM patients WHERE REGEXP_MATCHES(city, '^[A-Z]') AND city !~~ 'W%';

SELECT COUNT(*) FROM patients WHERE YEAR(born) = 1999 OR MONTH(born) = 2;

SELECT COUNT(*) FROM patients WHERE EXTRACT(year FROM born) BETWEEN 1950 AND 2000;

SELECT COUNT(*) FROM patients WHERE born < DATE '2000-01-01' - INTERVAL 20 YEAR;

SELECT COUNT(*) FROM patients WHERE born + INTERVAL '3' MONTH > DATE '2000-01-01';

SELECT COUNT(*) FROM patients WHERE DATE_TRUNC('month', born) = DATE '1999-12-01';

SELECT COUNT(*) FROM patients WHERE DATE_DIFF('day', born, DATE '2020-03-01') <= 365;

SELECT COUNT(*) FROM patients WHERE DAYNAME(born) = 'Friday' OR QUARTER(born) = 1;

SELECT COUNT(*) FROM patients WHERE sex = city;

SELECT COUNT(*) FROM patients WHERE LOWER(city) = LOWER(sex);

SELECT COUNT(*) FROM patients WHERE (age > 40) = smoker;

SELECT COUNT(*) FROM patients WHERE (sbp > 120) IS NULL;

SELECT COUNT(*) FROM patients WHERE NOT (age > sbp OR weight > 0.1);

SELECT COUNT(*) FROM patients WHERE (age > sbp) IS NOT TRUE;

SELECT COUNT(*) FROM patients WHERE POWER(weight, 2) < 0.3 AND SQRT(age) > 6;

SELECT COUNT(*) FROM patients WHERE SIGN(weight) = -1;

SELECT COUNT(*) FROM patients WHERE CAST(weight AS INTEGER) = 70 OR CAST(age AS VARCHAR) LIKE '4%';

SELECT COUNT(*) FROM patients WHERE pulse > age;

SELECT COUNT(*) FROM patients WHERE weight > age;

SELECT COUNT(*) FROM patients WHERE age > 39.5 + 1 AND sbp < 100 + 2 * 10;

SELECT COUNT(*) FROM patients WHERE TRUE = smoker AND NOT FALSE;

SELECT COUNT(*) FROM patients WHERE 40 = age AND 'F' = sex AND DATE '2020-02-29' > born;

SELECT COUNT(*) FROM patients WHERE TRY_CAST(city AS INTEGER) IS NULL;

SELECT COUNT(*) FROM patients WHERE weight * 2 = 1 OR weight + 1 <> 1.5;

SELECT COUNT(*) FROM patients WHERE age BETWEEN sbp - 90 AND sbp;

SELECT COUNT(*) FROM patients WHERE 1 - weight > 0.9 AND weight / 3 <= 0.1;

SELECT COUNT(*) FROM patients WHERE city LIKE 'G%';

SELECT COUNT(*) FROM patients WHERE city NOT ILIKE 'g%';

SELECT COUNT(*) FROM patients WHERE city SIMILAR TO 'G.*';

SELECT COUNT(*) FROM patients WHERE city GLOB 'G*';

SELECT COUNT(*) FROM patients WHERE city ~ 'G.*';

SELECT COUNT(*) FROM patients WHERE regexp_matches(city, 'G');

SELECT COUNT(*) FROM patients WHERE age = sbp;

SELECT COUNT(*) FROM patients WHERE smoker = smoker;

SELECT COUNT(*) FROM patients WHERE 1 = 1;

SELECT COUNT(*) FROM patients WHERE NULL IS NULL;

SELECT COUNT(*) FROM patients WHERE -age = -40;

SELECT COUNT(*) FROM patients WHERE CAST(age AS VARCHAR) = '40';

SELECT COUNT(*) FROM patients WHERE sbp = 120 IS NULL;

SELECT COUNT(*) FROM patients WHERE smoker IS NOT NULL = TRUE;

SELECT COUNT(*) FROM patients WHERE smoker = NOT TRUE;

SELECT COUNT(*) FROM patients WHERE 40 BETWEEN age AND sbp;

SELECT COUNT(*) FROM patients WHERE 40 IN (age, sbp);

SELECT COUNT(*) FROM patients WHERE ABS(age) = 40;

SELECT COUNT(*) FROM patients WHERE LOWER(city) = 'graz';

SELECT COUNT(*) FROM patients WHERE COALESCE(sbp, 0) = 0;

SELECT COUNT(*) FROM patients WHERE IF(smoker, TRUE, FALSE);

SELECT COUNT(*) FROM patients WHERE age = '40';

SELECT COUNT(*) FROM patients WHERE age = TRUE;

SELECT COUNT(*) FROM patients WHERE age IS TRUE;

SELECT COUNT(*) FROM patients WHERE smoker = 'true';

SELECT COUNT(*) FROM patients WHERE smoker = 1;

SELECT COUNT(*) FROM patients WHERE born = 'infinity';

SELECT COUNT(*) FROM patients WHERE born = TIMESTAMP '2020-02-29 00:00:00';

SELECT COUNT(*) FROM patients WHERE age = 1e-5;

SELECT COUNT(*) FROM patients WHERE age = 1e99;

SELECT COUNT(*) FROM patients WHERE age IN (40.00000000000000001, 5e1);

SELECT COUNT(*) FROM patients WHERE age BETWEEN 40.00000000000000001 AND 5e1;

SELECT COUNT(*) FROM patients WHERE age IN (9007199254740993, 1e0);

SELECT COUNT(*) FROM patients WHERE age < 100000000000000000000000;

SELECT COUNT(*) FROM patients WHERE age < 40.0000000000000000001;

SELECT COUNT(*) FROM patients WHERE WIDTH_BUCKET(weight, 0, 100, 10) = 1;

SELECT COUNT(*) FROM patients WHERE WIDTH_BUCKET(age, 0, 100, 10) = 5;

SELECT COUNT(*) FROM patients WHERE FLOOR(weight * 10) = 1;

SELECT COUNT(*) FROM patients WHERE FLOOR(weight * 10) / 10 >= 0.1;

SELECT COUNT(*) FROM patients WHERE CASE WHEN weight < 0.1 THEN 'low' WHEN weight < 1 THEN 'mid' END = 'mid';

SELECT COUNT(*) FROM patients WHERE born >= DATE '1980-01-31' + INTERVAL '1 month' AND born < DATE '1980-01-31' + INTERVAL '10 years';
