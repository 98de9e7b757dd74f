-- A SELECT over the groups of another that aggregates nothing shows them.
SELECT * FROM (SELECT COUNT(*) FROM patients);
SELECT * FROM (SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex);
SELECT * FROM (SELECT * FROM (SELECT smoker, COUNT(*), MAX(sbp) FROM patients GROUP BY smoker));
SELECT t.*, n FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS t;
SELECT mean / 2 FROM (SELECT AVG(age) AS mean FROM patients);
WITH by_sex AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT sex, n + 1 AS m FROM by_sex ORDER BY m;
SELECT LOWER(city), 2 * n AS twice FROM (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) ORDER BY n DESC;
SELECT * FROM (SELECT n + 1, n, n FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex));

-- Its WHERE decides about groups.
SELECT n FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) WHERE n > 20;
SELECT * FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex HAVING COUNT(*) < 34) WHERE n > 20 AND sex <> 'M';
SELECT m FROM (SELECT n + 1 AS m FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) WHERE n > 20) WHERE m < 35;
SELECT n FROM (SELECT COUNT(*) AS n FROM patients WHERE age > 100) WHERE n > 1000;
SELECT top, low FROM (SELECT MAX(n) AS top, MIN(n) AS low FROM (SELECT city, COUNT(*) AS n FROM patients GROUP BY city))
WHERE top > low;

-- Names mean what they mean inside, whatever they are outside.
SELECT sex AS n, n AS sex FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) ORDER BY n DESC LIMIT 2;
SELECT sex AS n, n AS sex FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS t ORDER BY t.n DESC LIMIT 2;
SELECT sex FROM (SELECT city AS sex, COUNT(*) AS age FROM patients GROUP BY city) WHERE sex LIKE 'G%' AND age > 1;
SELECT age + 1 AS age FROM (SELECT sex, MAX(age) AS age FROM patients GROUP BY sex) ORDER BY age;
SELECT n FROM (SELECT smoker, COUNT(*) AS n FROM patients GROUP BY ALL);
SELECT n FROM (SELECT COUNT(*) AS n, sex FROM patients GROUP BY 2);
SELECT n FROM (SELECT YEAR(born) AS y, COUNT(*) AS n FROM patients GROUP BY y);
SELECT a FROM (SELECT FLOOR(age / 10) AS f, SUM(sbp) AS age, COUNT(*) AS a FROM patients GROUP BY FLOOR((age) / 10)
HAVING age > 1000);

-- Grouping sets inside.
SELECT sex, n FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY ROLLUP (sex)) WHERE sex IS NULL;
SELECT n, s FROM (SELECT sex AS s, COUNT(*) AS n FROM patients GROUP BY CUBE (s)) WHERE s = 'F' OR n > 50;
SELECT n, sex FROM (SELECT sex, city, COUNT(*) AS n FROM patients GROUP BY GROUPING SETS ((1), (2), (1, 2), ()))
WHERE city IS NULL;

-- Branches of a union.
SELECT sex, n FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
UNION ALL SELECT city, COUNT(*) FROM patients GROUP BY city;
SELECT n FROM (SELECT sex, COUNT(*) AS n FROM (SELECT sex FROM patients WHERE age < 40 UNION ALL
SELECT sex FROM patients WHERE age >= 40) GROUP BY sex);
SELECT AVG(n) FROM (SELECT sex, COUNT(*) AS n FROM (SELECT sex FROM patients WHERE age < 16 UNION ALL
SELECT sex FROM patients WHERE age >= 16) GROUP BY sex);

-- DISTINCT rows of a subquery are groups.
SELECT COUNT(*) FROM (SELECT DISTINCT sex, city FROM patients);
SELECT sex, COUNT(*) FROM (SELECT DISTINCT sex, city FROM patients WHERE age > 40) GROUP BY sex;
SELECT AVG(a) FROM (SELECT DISTINCT age AS a FROM patients);
SELECT * FROM (SELECT DISTINCT smoker FROM patients);
SELECT COUNT(c) FROM (SELECT DISTINCT city AS c FROM patients) WHERE c <> 'Graz';
