-- dataset: cohort
-- As written for other databases. What DuckDB itself does not run is expected to be refused with a statement that works.

# code: QG101
# suggests: SELECT region, COUNT(*) AS n FROM cohort GROUP BY region ORDER BY n DESC LIMIT 3
SELECT TOP 3 region, COUNT(*) AS n FROM cohort GROUP BY region ORDER BY n DESC;

# code: QG101
# suggests: SELECT "region", COUNT(*) AS "n" FROM "cohort" GROUP BY "region"
SELECT `region`, COUNT(*) AS `n` FROM `cohort` GROUP BY `region`;

# code: QG204
# suggests: SELECT "region", COUNT(*) AS n FROM cohort GROUP BY "region"
SELECT [region], COUNT(*) AS n FROM cohort GROUP BY [region];

SELECT region, COUNT(*) AS n FROM cohort GROUP BY region ORDER BY n DESC FETCH FIRST 3 ROWS ONLY;

# code: QG204
# suggests: SELECT COUNT_IF(smoker = 'yes') AS smokers, CASE WHEN COUNT(*) <> 0 THEN COUNT_IF(smoker = 'yes') / COUNT(*) ELSE NULL END AS share FROM cohort
SELECT COUNTIF(smoker = 'yes') AS smokers, SAFE_DIVIDE(COUNTIF(smoker = 'yes'), COUNT(*)) AS share FROM cohort;

# code: QG101
SELECT sex, COUNT(*) FROM cohort GROUP BY sex WITH ROLLUP;

# code: QG204
# suggests: SELECT COALESCE(smoker, 'unknown') AS smoker, COUNT(*) FROM cohort GROUP BY COALESCE(smoker, 'unknown')
SELECT ISNULL(smoker, 'unknown') AS smoker, COUNT(*) FROM cohort GROUP BY ISNULL(smoker, 'unknown');

# code: QG101
# suggests: SELECT COALESCE(smoker, 'unknown') AS smoker, COUNT(*) FROM cohort GROUP BY COALESCE(smoker, 'unknown')
SELECT NVL(smoker, 'unknown') AS smoker, COUNT(*) FROM cohort GROUP BY NVL(smoker, 'unknown');

SELECT IFNULL(smoker, 'unknown') AS smoker, COUNT(*) FROM cohort GROUP BY 1;

# code: QG203
# suggests: SELECT EXTRACT(year FROM admitted) AS y, COUNT(*) FROM cohort GROUP BY EXTRACT(year FROM admitted)
SELECT DATEPART(year, admitted) AS y, COUNT(*) FROM cohort GROUP BY DATEPART(year, admitted);

# code: QG204
# suggests: SELECT STRFTIME(CAST(admitted AS TIMESTAMP), '%Y-%m') AS m, COUNT(*) FROM cohort GROUP BY m
SELECT DATE_FORMAT(admitted, '%Y-%m') AS m, COUNT(*) FROM cohort GROUP BY m;

# code: QG204
# suggests: SELECT STRFTIME(CAST(admitted AS DATE), '%Y') AS y, COUNT(*) FROM cohort GROUP BY y
SELECT FORMAT_DATE('%Y', admitted) AS y, COUNT(*) FROM cohort GROUP BY y;

# code: QG101
# suggests: SELECT CASE WHEN sex = 'female' THEN 1 ELSE 0 END AS f, COUNT(*) FROM cohort GROUP BY CASE WHEN sex = 'female' THEN 1 ELSE 0 END
SELECT IIF(sex = 'female', 1, 0) AS f, COUNT(*) FROM cohort GROUP BY IIF(sex = 'female', 1, 0);

# code: QG204
# suggests: SELECT COUNT(*) FROM cohort
SELECT COUNT_BIG(*) FROM cohort;

SELECT STDEV(bmi) AS sd, VAR(bmi) AS v FROM cohort;

# code: QG204
SELECT approx_count_distinct(region) FROM cohort;

SELECT region, COUNT(*) FROM "cohort" GROUP BY region;

SELECT region, COUNT(*) FROM main.cohort GROUP BY region;

# code: QG204
SELECT sex, string_agg(region, ',') FROM cohort GROUP BY sex;

# code: QG204
SELECT sex, ANY_VALUE(region) FROM cohort GROUP BY sex;
