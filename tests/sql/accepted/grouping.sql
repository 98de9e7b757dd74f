-- What can be grouped by: columns, steps, parts of dates, conditions; and sets of groups.
SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*), AVG(sbp) FROM patients GROUP BY decade ORDER BY decade;

SELECT age // 10 * 10 AS decade, sex, COUNT(*) FROM patients GROUP BY ALL;

SELECT FLOOR(weight / 0.25) * 0.25 AS step, COUNT(*) FROM patients GROUP BY step;

SELECT ROUND(weight) AS w, AVG(age) FROM patients GROUP BY ROUND(weight);

SELECT CAST(weight AS INTEGER), COUNT(*) FROM patients GROUP BY 1;

SELECT CASE WHEN age < 40 THEN 'young' WHEN age < 65 THEN 'middle' ELSE 'old' END AS band, COUNT(*), MEDIAN(sbp) FROM patients GROUP BY band;

SELECT CASE WHEN weight < 0.1 THEN 'low' WHEN weight <= 0.5 THEN 'mid' WHEN weight IS NOT NULL THEN 'high' END AS band, COUNT(*) FROM patients GROUP BY band;

SELECT CASE WHEN smoker AND sbp > 120 THEN 'both' WHEN smoker OR sbp > 120 THEN 'one' ELSE 'none' END AS risk, COUNT(*) FROM patients GROUP BY 1;

SELECT WIDTH_BUCKET(age, 0, 100, 10) AS bucket, COUNT(*) FROM patients GROUP BY bucket ORDER BY bucket;

SELECT WIDTH_BUCKET(weight, 0, 1, 4) AS bucket, COUNT(*), AVG(weight) FROM patients GROUP BY bucket;

SELECT YEAR(born), COUNT(*) FROM patients GROUP BY YEAR(born);

SELECT DATE_TRUNC('year', born) AS y, COUNT(*) FROM patients GROUP BY y;

SELECT DATE_TRUNC('decade', born) AS d, COUNT(*) FROM patients GROUP BY d ORDER BY d NULLS FIRST;

SELECT EXTRACT(dow FROM born) AS weekday, COUNT(*) FROM patients GROUP BY weekday;

SELECT MONTHNAME(born), COUNT(*) FROM patients GROUP BY 1;

SELECT LEFT(city, 1) AS initial, COUNT(*) FROM patients GROUP BY initial;

SELECT COALESCE(city, 'unknown') AS town, COUNT(*) FROM patients GROUP BY town;

SELECT city IS NULL AS unknown, COUNT(*) FROM patients GROUP BY unknown;

SELECT age > 40 AS older, smoker, COUNT(*) FROM patients GROUP BY older, smoker;

SELECT sbp > age AS higher, COUNT(*) FROM patients GROUP BY higher;

SELECT weight > 0.1, COUNT(*) FROM patients GROUP BY 1;

SELECT sex, city, COUNT(*) FROM patients GROUP BY ROLLUP (sex, city);

SELECT sex, smoker, COUNT(*), AVG(sbp) FROM patients GROUP BY CUBE (sex, smoker);

SELECT sex, smoker, COUNT(*) FROM patients GROUP BY GROUPING SETS ((sex, smoker), (sex), ());

SELECT sex, smoker, COUNT(*) FROM patients GROUP BY sex, ROLLUP (smoker);

SELECT sex, COUNT(*) FROM patients GROUP BY GROUPING SETS ((sex), (sex));

SELECT age, COUNT(*) FROM patients GROUP BY age ORDER BY age DESC;

SELECT sbp, sex, COUNT(*) FROM patients WHERE sbp > 100 GROUP BY sbp, sex;

SELECT smoker, COUNT(*) FROM patients GROUP BY smoker ORDER BY smoker;

SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY AVG(sbp) - AVG(age);

SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n * -1, sex;

SELECT age // 20 AS a, COUNT(*) FROM patients GROUP BY a ORDER BY COUNT(*) DESC, a LIMIT 3;

SELECT sex, COUNT(*) AS a FROM (SELECT sex, age * 2 AS a FROM patients) GROUP BY sex ORDER BY MAX(a);

SELECT sex, -age AS age, COUNT(*) FROM patients GROUP BY sex, patients.age ORDER BY age * 1, sex;

SELECT WIDTH_BUCKET(age, 0, 100, 10) AS b, COUNT(*) FROM patients GROUP BY b;

SELECT WIDTH_BUCKET(age, 0, 100, 10), COUNT(*) FROM patients GROUP BY WIDTH_BUCKET(age, 0, 100, 10) ORDER BY 1;

SELECT WIDTH_BUCKET(weight, 0, 100, 10), COUNT(*) FROM patients GROUP BY 1;

SELECT WIDTH_BUCKET(weight, -0.5, 0.5, 7), COUNT(*) FROM patients GROUP BY 1;

SELECT WIDTH_BUCKET(b, 0, 3, 2) AS c, COUNT(*) FROM (SELECT WIDTH_BUCKET(age, 0, 100, 10) AS b FROM patients) GROUP BY c;

SELECT CASE WHEN weight < 0.1 THEN 'low' WHEN weight <= 0.1 THEN 'mid' ELSE 'x' END AS c, COUNT(*) FROM patients GROUP BY c;

SELECT ROUND(weight, 1), COUNT(*), AVG(ROUND(weight, 1)) FROM patients GROUP BY 1;

SELECT ROUND(weight), COUNT(*), SUM(FLOOR(weight)) FROM patients GROUP BY 1;

SELECT CASE WHEN weight < 0.3 THEN FLOOR(weight * 4) ELSE CEIL(-weight) END, COUNT(*) FROM patients GROUP BY 1;

SELECT FLOOR(COALESCE(weight, 3) / 2), COUNT(*) FROM patients GROUP BY 1;

SELECT weight IS NULL, COUNT(*) FROM patients GROUP BY 1;

SELECT weight > 0.1 AND age > 40 AS heavy, COUNT(*) FROM patients GROUP BY heavy;

SELECT age > sbp, COUNT(*) FROM patients GROUP BY 1;

SELECT age, COUNT(*) FROM patients GROUP BY age;

SELECT sex, COUNT(*) FROM patients GROUP BY (1);

SELECT COUNT(*) FROM patients GROUP BY ();

SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY (1);

SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY COUNT(*) * 2;

SELECT sex, COUNT(*) FROM patients GROUP BY ALL;

SELECT sex, COUNT(*) FROM patients GROUP BY ROLLUP (sex);

SELECT sex, COUNT(*) FROM patients GROUP BY CUBE (sex, city);

SELECT sex, COUNT(*) FROM patients GROUP BY GROUPING SETS ((sex), ());

SELECT sex, COUNT(*) FROM patients GROUP BY GROUPING SETS (ROLLUP (sex, city), (smoker));

-- Which keys a row leaves out: a subtotal is told from a group of missing values.
SELECT city, smoker, GROUPING(city), GROUPING(city, smoker) AS both, GROUPING_ID(smoker, city), COUNT(*) FROM patients GROUP BY ROLLUP (city, smoker);

SELECT city, COUNT(*) FROM patients GROUP BY CUBE (city, sex) HAVING GROUPING(sex) = 1 AND GROUPING(city) = 0;

SELECT sex, AVG(age) FROM patients GROUP BY GROUPING SETS ((sex), ()) ORDER BY GROUPING(sex), sex;

SELECT GROUPING(sex) + 2 * GROUPING(smoker) AS level, COUNT(*) FROM patients GROUP BY CUBE (sex, smoker);

SELECT sex, GROUPING(sex), COUNT(*) FROM patients GROUP BY sex;

SELECT GROUPING(FLOOR(age / 10)), COUNT(*) FROM patients GROUP BY ROLLUP (FLOOR(age / 10));
