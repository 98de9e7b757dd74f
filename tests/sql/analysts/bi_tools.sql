-- dataset: cohort
-- As Tableau, Power BI, Metabase, Superset and Looker write it.

SELECT "cohort"."region" AS "region", SUM(1) AS "sum:Number of Records:ok" FROM "cohort" "cohort" GROUP BY 1;

SELECT AVG(CAST("cohort"."sbp" AS DOUBLE PRECISION)) AS "avg:sbp:ok", "cohort"."sex" AS "sex" FROM "cohort" GROUP BY 2;

SELECT "source"."region" AS "region", COUNT(*) AS "count" FROM (SELECT "cohort"."region" AS "region", "cohort"."age" AS "age" FROM "cohort") "source" WHERE "source"."age" > 40 GROUP BY "source"."region" ORDER BY "source"."region" ASC;

SELECT CAST(DATE_TRUNC('month', "cohort"."admitted") AS DATE) AS "admitted", COUNT(*) AS "count" FROM "cohort" GROUP BY CAST(DATE_TRUNC('month', "cohort"."admitted") AS DATE) ORDER BY 1 ASC;

SELECT FLOOR("cohort"."age" / 10) * 10 AS "age", COUNT(*) AS "count" FROM "cohort" GROUP BY FLOOR("cohort"."age" / 10) * 10 ORDER BY FLOOR("cohort"."age" / 10) * 10 ASC;

SELECT "region" AS "region", COUNT(*) AS "count", AVG("bmi") AS "AVG(bmi)" FROM "cohort" WHERE "sex" IN ('female') GROUP BY "region" ORDER BY "count" DESC LIMIT 1000;

SELECT region, COUNT(*) AS n FROM cohort GROUP BY region ORDER BY n DESC LIMIT 10 OFFSET 0;

SELECT (CASE WHEN (CASE WHEN cohort.sex = 'female' THEN 1 ELSE 0 END) = 1 THEN 'Yes' ELSE 'No' END) AS "is_female", COUNT(DISTINCT cohort.patient_id) AS "patients" FROM cohort GROUP BY 1;

# code: QG101
# suggests: SELECT "region", COUNT(*) AS "n" FROM "cohort" GROUP BY "region" LIMIT 1000001
SELECT TOP (1000001) [region], COUNT_BIG(*) AS [n] FROM [cohort] GROUP BY [region];

SELECT COUNT(*) AS n FROM cohort WHERE (1 = 1) AND (sex = 'female') AND (2 > 1);

SELECT region, SUM(CASE WHEN died THEN 1 ELSE 0 END) AS deaths, SUM(CASE WHEN died THEN 1 ELSE 0 END) * 1.0 / NULLIF(COUNT(*), 0) AS rate FROM cohort GROUP BY region HAVING (COUNT(*) > 0) ORDER BY 3 DESC NULLS LAST;

SELECT DATE_TRUNC('quarter', admitted) AS q, COUNT(*) AS n, COUNT(*) - LAG(COUNT(*), 1) OVER (ORDER BY DATE_TRUNC('quarter', admitted)) AS change FROM cohort GROUP BY 1 ORDER BY 1;

SELECT DATE_TRUNC('year', admitted) AS y, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY DATE_TRUNC('year', admitted) ROWS UNBOUNDED PRECEDING) AS running FROM cohort GROUP BY 1 ORDER BY 1;

SELECT region, arm, COUNT(*) AS n FROM cohort GROUP BY GROUPING SETS ((region, arm), (region), ()) ORDER BY region NULLS LAST, arm NULLS LAST;

SELECT region, COUNT(*) AS n, FIRST_VALUE(COUNT(*)) OVER (ORDER BY COUNT(*) DESC) AS largest FROM cohort GROUP BY region;

SELECT region, sex, n FROM (SELECT region, sex, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY region ORDER BY COUNT(*) DESC) AS rn FROM cohort GROUP BY region, sex) t WHERE rn = 1;

SELECT region, COUNT(*) AS n, COUNT(*) * 1.0 / MAX(COUNT(*)) OVER () AS of_largest FROM cohort GROUP BY region;

SELECT region, AVG(los) AS los FROM cohort WHERE admitted >= CAST('2021-01-01' AS DATE) AND admitted < CAST('2022-01-01' AS DATE) GROUP BY region;

# code: QG204
SELECT UPPER(region) AS region, INITCAP(arm) AS arm, COUNT(*) FROM cohort GROUP BY 1, 2;

SELECT LEFT(region, 1) AS r, COUNT(*) FROM cohort GROUP BY LEFT(region, 1);

SELECT region, COUNT(*) AS n FROM cohort WHERE region LIKE '%st' OR LOWER(region) = 'north' GROUP BY region;

# code: QG204
SELECT region, MAX(sbp) AS hi, MIN(sbp) AS lo, ARG_MAX(region, sbp) FROM cohort GROUP BY region;
