-- Rewordings: one family, one hash. Where the columns of the answer are in another order, `columns` says so.
# family: everybody
SELECT COUNT(*) FROM patients;

# family: everybody
select count ( * ) as n from "PATIENTS" p where true;

# family: everybody
FROM patients SELECT ALL COUNT() WHERE sbp IS NULL OR sbp IS NOT NULL;

# family: everybody
SELECT COUNT(*) FROM patients WHERE NOT (sbp IS NULL AND sbp IS NOT NULL) ORDER BY 1 LIMIT 1;

# family: forties
SELECT COUNT(*) FROM patients WHERE age BETWEEN 40 AND 49;

# family: forties
SELECT COUNT(*) FROM patients WHERE age >= 40 AND age < 50;

# family: forties
SELECT COUNT(*) FROM patients WHERE 40 <= age AND NOT age >= 50;

# family: forties
SELECT COUNT(*) FROM patients WHERE age > 39.5 AND age <= 49.0;

# family: forties
SELECT COUNT(*) FROM patients WHERE age IN (40, 42, 44, 46, 48) OR age IN (49, 47, 45, 43, 41, 40);

# family: forties
SELECT COUNT(*) FROM patients WHERE NOT (age < 40 OR age > 4.9e1);

# family: not exactly 120
SELECT COUNT(*) FROM patients WHERE sbp <> 120;

# family: not exactly 120
SELECT COUNT(*) FROM patients WHERE NOT sbp = 120;

# family: not exactly 120
SELECT COUNT(*) FROM patients WHERE sbp NOT IN (120);

# family: not exactly 120
SELECT COUNT(*) FROM patients WHERE sbp < 120 OR sbp > 120;

# family: not exactly 120
SELECT COUNT(*) FROM patients WHERE sbp IS DISTINCT FROM 120 AND sbp IS NOT NULL;

# family: not exactly 120
SELECT COUNT(*) FROM patients WHERE (sbp != 120) IS TRUE;

# family: 120 or unknown
SELECT COUNT(*) FROM patients WHERE sbp = 120 OR sbp IS NULL;

# family: 120 or unknown
SELECT COUNT(*) FROM patients WHERE NOT (sbp IS DISTINCT FROM 120) OR sbp ISNULL;

# family: 120 or unknown
SELECT COUNT(*) FROM patients WHERE (sbp = 120) IS NOT FALSE;

# family: nobody
SELECT COUNT(*) FROM patients WHERE FALSE;

# family: nobody
SELECT COUNT(*) FROM patients WHERE sbp = NULL;

# family: nobody
SELECT COUNT(*) FROM patients WHERE NULL AND age = 40;

# family: nobody
SELECT COUNT(*) FROM patients WHERE sbp NOT IN (120, NULL) AND sbp = 120;

# family: nobody
SELECT COUNT(*) FROM patients WHERE age BETWEEN 50 AND 40;

# family: nobody
SELECT COUNT(*) FROM patients WHERE age = 40.5;

# family: nobody
SELECT COUNT(*) FROM patients WHERE city < '';

# family: one or the other
SELECT COUNT(*) FROM patients WHERE age = 40 OR sbp = 120;

# family: one or the other
SELECT COUNT(*) FROM patients WHERE (120 = sbp) OR ((age = 40));

# family: one or the other
SELECT COUNT(*) FROM patients WHERE NOT (age <> 40 AND NOT sbp = 120);

# family: one or the other
SELECT COUNT(*) FROM patients WHERE age = 40 OR sbp = 120 OR age = 40 OR FALSE OR sbp IN (120, NULL);

# family: both
SELECT COUNT(*) FROM patients WHERE age = 40 AND sbp = 120;

# family: both
SELECT COUNT(*) FROM patients WHERE sbp = 120 AND (TRUE AND age = 40) AND sbp IS NOT NULL;

# family: both
SELECT COUNT(*) FROM patients WHERE NOT (age <> 40 OR sbp <> 120);

# family: both
SELECT COUNT(*) FROM patients WHERE (age = 40 AND sbp = 120) IS TRUE;

# family: smokers
SELECT COUNT(*) FROM patients WHERE smoker;

# family: smokers
SELECT COUNT(*) FROM patients WHERE smoker = TRUE;

# family: smokers
SELECT COUNT(*) FROM patients WHERE smoker IS TRUE AND smoker IN (TRUE);

# family: smokers
SELECT COUNT(*) FROM patients WHERE NOT NOT smoker;

# family: zero
SELECT COUNT(*) FROM patients WHERE weight = 0;

# family: zero
SELECT COUNT(*) FROM patients WHERE weight = -0.0;

# family: zero
SELECT COUNT(*) FROM patients WHERE weight <= 0e0 AND weight >= -0.0;

# family: leap day
SELECT COUNT(*) FROM patients WHERE born = DATE '2020-02-29';

# family: leap day
SELECT COUNT(*) FROM patients WHERE born > '2020-02-28' AND born < '2020-03-01';

# family: leap day
SELECT COUNT(*) FROM patients WHERE born IN (CAST('2020-02-29' AS DATE), '2020-02-29'::DATE);

# family: means by sex and city
SELECT sex, city, AVG(sbp) FROM patients GROUP BY sex, city;

# family: means by sex and city
SELECT sex, city, AVG(sbp) AS mean FROM patients GROUP BY city, sex, 1 ORDER BY mean DESC;

# family: means by sex and city
# columns: other
SELECT AVG(p.sbp), p.city AS c FROM patients p GROUP BY c, p.sex;

# family: means by sex
SELECT sex, AVG(sbp) FROM patients GROUP BY sex;

# family: means by sex
SELECT sex, AVG(sbp) FROM patients WHERE TRUE GROUP BY 1 ORDER BY COUNT(*);

# family: mean of the measured
SELECT AVG(sbp) FROM patients WHERE sbp > 0 OR sbp <= 0;

# family: mean of the measured
SELECT AVG(sbp) FROM patients WHERE sbp IS NOT NULL;

# family: largest three
SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY n DESC, city LIMIT 3;

# family: largest three
SELECT city, COUNT(*) FROM patients GROUP BY 1 ORDER BY COUNT(*) DESC, 1 ASC NULLS LAST LIMIT 3;

# family: smallest three
SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY n, city LIMIT 3;

# family: smallest three
SELECT city, COUNT(*) FROM patients GROUP BY city ORDER BY 2 NULLS LAST, patients.city LIMIT 3;

# family: two statistics
SELECT COUNT(*), AVG(age) FROM patients;

# family: two statistics
# columns: other
SELECT AVG(age) AS a, COUNT(*) AS b FROM patients;

# family: two statistics
SELECT COUNT(*), AVG(age) FROM patients WHERE age IS NOT NULL OR age IS NULL;
