-- dataset: cohort
-- As dbplyr and sqldf write it.

SELECT "sex", COUNT(*) AS "n" FROM "cohort" GROUP BY "sex";

SELECT "sex", AVG("age") AS "mean_age", STDDEV("age") AS "sd_age" FROM "cohort" GROUP BY "sex";

SELECT "arm", "smoker", COUNT(*) AS "n" FROM (SELECT "cohort".* FROM "cohort" WHERE ("age" >= 50.0)) AS "q01" GROUP BY "arm", "smoker";

SELECT "band", COUNT(*) AS "n", AVG("sbp") AS "sbp"
FROM (
  SELECT "cohort".*, CASE WHEN ("age" < 40.0) THEN 'under 40' WHEN ("age" < 65.0) THEN '40 to 64' ELSE '65 and over' END AS "band"
  FROM "cohort"
) AS "q01"
GROUP BY "band";

SELECT "q01".*, "n" / SUM("n") OVER () AS "share" FROM (SELECT "sex", COUNT(*) AS "n" FROM "cohort" GROUP BY "sex") AS "q01";

SELECT "region", "n", "n" / SUM("n") OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS "p"
FROM (SELECT "region", COUNT(*) AS "n" FROM "cohort" GROUP BY "region") AS "q01" ORDER BY "n" DESC;

SELECT "region", "n" FROM (SELECT "q01".*, RANK() OVER (ORDER BY "n" DESC) AS "col01" FROM (SELECT "region", COUNT(*) AS "n" FROM "cohort" GROUP BY "region") AS "q01") AS "q01" WHERE ("col01" <= 2);

SELECT SUM(CASE WHEN ((("bmi") IS NULL)) THEN 1.0 ELSE 0.0 END) AS "missing" FROM "cohort";

SELECT AVG(CAST("died" AS NUMERIC)) AS "risk" FROM "cohort" WHERE (NOT(("died") IS NULL));

SELECT "sex", PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "los") AS "median_los" FROM "cohort" GROUP BY "sex";

SELECT "sex", MEDIAN("los") AS "median_los", QUANTILE_CONT("los", 0.25) AS "q1", QUANTILE_CONT("los", 0.75) AS "q3" FROM "cohort" GROUP BY "sex";

SELECT DISTINCT "region", "arm" FROM "cohort";

# code: QG101
# suggests: SELECT "sex", COUNT(*) AS "n" FROM "cohort" GROUP BY "sex"
SELECT `sex`, COUNT(*) AS `n` FROM `cohort` GROUP BY `sex`;

SELECT COUNT(*) AS "n" FROM (SELECT DISTINCT "region", "arm" FROM "cohort") AS "q01";

SELECT FLOOR("age" / 10.0) * 10.0 AS "decade", COUNT(*) AS "n" FROM "cohort" GROUP BY FLOOR("age" / 10.0) * 10.0;

SELECT "sex", COUNT(DISTINCT "region") AS "regions" FROM "cohort" GROUP BY "sex";

SELECT region, share FROM (SELECT q.*, n / SUM(n) OVER () AS share FROM (SELECT region, COUNT(*) AS n FROM cohort GROUP BY region) q) t WHERE n > 75;

SELECT region, r FROM (SELECT q.*, RANK() OVER (ORDER BY n) AS r FROM (SELECT region, COUNT(*) AS n FROM cohort GROUP BY region) q) t WHERE n > 75;
