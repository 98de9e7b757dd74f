-- Functions of one column with few values: the database says what they make of each.
SELECT AVG(COS(age)), AVG(SIN(age)), MAX(TAN(age)), SUM(DEGREES(age)), SUM(RADIANS(age)) FROM patients;
SELECT AVG(ATAN(age)), AVG(ATAN2(age, 2)), AVG(ASIN(age / 200)), AVG(ACOS(age / 200)), AVG(COT(age + 1)) FROM patients;
SELECT AVG(SINH(age / 10)), AVG(COSH(age / 10)), AVG(TANH(age)), AVG(ASINH(age)), AVG(ACOSH(age + 1)) FROM patients;
SELECT SUM(GAMMA(age % 9 + 1)), SUM(LGAMMA(age + 1)), SUM(FMOD(age, 7)), SUM(FDIV(age, 7)) FROM patients;
SELECT age & 3, COUNT(*) FROM patients GROUP BY 1;
SELECT SUM(age | 1), SUM(XOR(age, 5)), SUM(age << 2), SUM(age >> 1), SUM(~age), SUM(BIT_COUNT(age)) FROM patients;
SELECT HEX(age), COUNT(*) FROM patients GROUP BY HEX(age);
SELECT BIN(age % 4) AS bits, TO_BASE(age % 4, 3) AS three, COUNT(*) FROM patients GROUP BY ALL;
SELECT SUM(ROUND_EVEN(age / 7, 1)), COUNT(*) FILTER (WHERE SIGNBIT(age)) FROM patients;
SELECT STRIP_ACCENTS(city), COUNT(*) FROM patients GROUP BY 1;
SELECT AVG(LEVENSHTEIN(city, 'Graz')), AVG(JARO_SIMILARITY(city, 'Graz')), AVG(JACCARD(sex, 'F')) FROM patients;
SELECT MD5(sex), COUNT(*) FROM patients GROUP BY sex;
SELECT ASCII(city), UNICODE(city), ORD(city), COUNT(*) FROM patients GROUP BY ALL;
SELECT TRANSLATE(sex, 'FM', 'WN'), STRLEN(city), BIT_LENGTH(city), COUNT(*) FROM patients GROUP BY ALL;
SELECT COUNT(*) FROM patients WHERE PREFIX(city, 'G') OR SUFFIX(city, 'n');
SELECT DECADE(born), CENTURY(born), MILLENNIUM(born), ERA(born), COUNT(*) FROM patients GROUP BY ALL;
SELECT ISOYEAR(born), COUNT(*) FROM patients GROUP BY ISOYEAR(born);
SELECT WEEKDAY(born), DAYOFMONTH(born) > 15, HOUR(born), COUNT(*) FROM patients GROUP BY ALL;
SELECT AVG(WEEKOFYEAR(born)), MIN(YEARWEEK(born)), MAX(JULIAN(born)), MIN(EPOCH(born)) FROM patients;
SELECT DATEPART('year', born) AS y, MAX(DATESUB('month', born, DATE '2024-01-01')) FROM patients GROUP BY y;

-- Types by all their names.
SELECT CAST(age AS VARCHAR(3)), CAST(sex AS CHAR(20)), COUNT(*) FROM patients GROUP BY ALL;
SELECT SUM(age::NUMERIC), SUM(age::HUGEINT), AVG(CAST(age AS DECIMAL)) FROM patients;
