-- Numbers, as they may be written.
SELECT COUNT(*) FROM patients WHERE age > .5 AND age < 5.0e1 AND age <> 1_0 AND age >= 0040 AND age <= 41.;

SELECT COUNT(*) FROM patients WHERE age > 39.5 AND age <= 40.999999999999999999;

SELECT COUNT(*) FROM patients WHERE age = 40.0 OR age = 40.5 OR age <> 40.5;

SELECT COUNT(*) FROM patients WHERE age IN (40, 40.5, 41.0);

SELECT COUNT(*) FROM patients WHERE age >= -1 AND age > -(-39) AND age < - -42;

SELECT COUNT(*) FROM patients WHERE age BETWEEN 3.9e1 AND 40.5;

SELECT COUNT(*) FROM patients WHERE age < 99999999999999999999 AND age > -9223372036854775809;

SELECT COUNT(*) FROM patients WHERE pulse > 9007199254740992 OR pulse = -4611686018427387904;

SELECT COUNT(*) FROM patients WHERE pulse < 9007199254740992.000000000000000001;

SELECT COUNT(*) FROM patients WHERE weight = 0.1 OR weight = .5 OR weight = 7.05e1 OR weight >= 70;

SELECT COUNT(*) FROM patients WHERE weight <= 1e-1 AND weight > -0.0;

SELECT COUNT(*) FROM patients WHERE weight = 0 OR weight = -0.0;

SELECT COUNT(*) FROM patients WHERE weight IN (0.1, 5e-1, 1) OR weight BETWEEN -1 AND 0.0;

SELECT COUNT(*) FROM patients WHERE weight > 1.0000000000000001e-1 AND weight < 1e300;

-- Dates.
SELECT COUNT(*) FROM patients WHERE born = DATE '2020-02-29';

SELECT COUNT(*) FROM patients WHERE born >= '1970-01-01' AND '1999-12-31' >= born;

SELECT COUNT(*) FROM patients WHERE born = CAST('1999-12-31' AS DATE) OR born = '1970-01-01'::DATE;

SELECT COUNT(*) FROM patients WHERE born BETWEEN '1900-01-01' AND DATE '1970-01-01';

SELECT COUNT(*) FROM patients WHERE born IN ('2020-02-29', DATE '1970-01-01', NULL);

SELECT COUNT(*) FROM patients WHERE born > '0001-01-01' AND born < '9999-12-31';

-- Texts.
SELECT COUNT(*) FROM patients WHERE city = 'O''Brien' OR city = '' OR city = 'Ähren' OR city = 'nowhere \n';

SELECT COUNT(*) FROM patients WHERE city > 'Linz' AND city <= 'graz';

SELECT COUNT(*) FROM patients WHERE city >= '' AND city < '~';

SELECT COUNT(*) FROM patients WHERE city = '-- no comment' OR city = '/* none */' OR city = '日本　語';
