-- dataset: cohort
-- As written for other databases. What DuckDB itself does not run is expected to be refused with a statement that works.

SELECT TOP 3 region, COUNT(*) AS n FROM cohort GROUP BY region ORDER BY n DESC;

SELECT `region`, COUNT(*) AS `n` FROM `cohort` GROUP BY `region`;

SELECT [region], COUNT(*) AS n FROM cohort GROUP BY [region];

SELECT region, COUNT(*) AS n FROM cohort GROUP BY region ORDER BY n DESC FETCH FIRST 3 ROWS ONLY;

SELECT COUNTIF(smoker = 'yes') AS smokers, SAFE_DIVIDE(COUNTIF(smoker = 'yes'), COUNT(*)) AS share FROM cohort;

SELECT sex, COUNT(*) FROM cohort GROUP BY sex WITH ROLLUP;

SELECT ISNULL(smoker, 'unknown') AS smoker, COUNT(*) FROM cohort GROUP BY ISNULL(smoker, 'unknown');

SELECT NVL(smoker, 'unknown') AS smoker, COUNT(*) FROM cohort GROUP BY NVL(smoker, 'unknown');

SELECT IFNULL(smoker, 'unknown') AS smoker, COUNT(*) FROM cohort GROUP BY 1;

SELECT DATEPART(year, admitted) AS y, COUNT(*) FROM cohort GROUP BY DATEPART(year, admitted);

SELECT DATE_FORMAT(admitted, '%Y-%m') AS m, COUNT(*) FROM cohort GROUP BY m;

SELECT FORMAT_DATE('%Y', admitted) AS y, COUNT(*) FROM cohort GROUP BY y;

SELECT IIF(sex = 'female', 1, 0) AS f, COUNT(*) FROM cohort GROUP BY IIF(sex = 'female', 1, 0);

SELECT COUNT_BIG(*) FROM cohort;

SELECT STDEV(bmi) AS sd, VAR(bmi) AS v FROM cohort;

SELECT approx_count_distinct(region) FROM cohort;

SELECT region, COUNT(*) FROM "cohort" GROUP BY region;

SELECT region, COUNT(*) FROM main.cohort GROUP BY region;

SELECT sex, string_agg(region, ',') FROM cohort GROUP BY sex;

SELECT sex, ANY_VALUE(region) FROM cohort GROUP BY sex;
