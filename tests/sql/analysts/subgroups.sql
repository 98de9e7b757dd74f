-- dataset: cohort
-- Subgroups, strata, exclusions.

SELECT COUNT(*) FROM cohort WHERE age BETWEEN 40 AND 59 AND sex = 'female';

SELECT COUNT(*) FROM cohort WHERE NOT (smoker = 'yes') AND diabetes <> 'yes';

SELECT sex, AVG(sbp) FROM cohort WHERE age >= 18 AND bmi IS NOT NULL AND hba1c IS NOT NULL GROUP BY sex;

SELECT sex, education, COUNT(*) AS n, AVG(hba1c) AS hba1c FROM cohort GROUP BY sex, education HAVING COUNT(*) >= 10 ORDER BY sex, education;

SELECT region, arm, AVG(sbp) AS sbp FROM cohort WHERE died IS NOT TRUE GROUP BY region, arm HAVING AVG(sbp) > 120;

SELECT sex, COUNT(*) FILTER (WHERE age < 50) AS younger, COUNT(*) FILTER (WHERE age >= 50) AS older FROM cohort GROUP BY sex;

SELECT (age >= 65) AS elderly, sex, AVG(los) AS mean_los, COUNT(*) AS n FROM cohort GROUP BY 1, 2;

SELECT age >= 65 AS elderly, bmi >= 30 AS obese, COUNT(*) AS n FROM cohort GROUP BY elderly, obese ORDER BY n DESC;

SELECT DISTINCT region FROM cohort;

SELECT DISTINCT sex, arm FROM cohort ORDER BY sex, arm;

SELECT DISTINCT education FROM cohort ORDER BY 1;

SELECT COUNT(DISTINCT education) AS levels FROM cohort;

SELECT region, COUNT(*) AS n FROM cohort GROUP BY region ORDER BY COUNT(*) DESC LIMIT 2;

SELECT education, AVG(bmi) AS bmi FROM cohort GROUP BY education ORDER BY bmi DESC NULLS LAST LIMIT 1;

SELECT concat(sex, '-', arm) AS cell, COUNT(*) AS n FROM cohort GROUP BY cell;

SELECT concat_ws(' / ', sex, smoker) AS cell, COUNT(*) AS n FROM cohort GROUP BY ALL;

SELECT sex || '-' || smoker AS cell, COUNT(*) AS n FROM cohort GROUP BY 1 ORDER BY 1;

SELECT CASE WHEN sex = 'female' AND age < 50 THEN 'premenopausal' WHEN sex = 'female' THEN 'postmenopausal' ELSE 'male' END AS grp,
       COUNT(*), AVG(hba1c) FROM cohort GROUP BY grp;

SELECT CASE WHEN smoker = 'yes' AND diabetes = 'yes' THEN 'both'
            WHEN smoker = 'yes' THEN 'smoking only'
            WHEN diabetes = 'yes' THEN 'diabetes only'
            ELSE 'neither' END AS exposure,
       COUNT(*) AS n, AVG(died::int) AS risk
FROM cohort GROUP BY exposure;

SELECT sex, GROUPING(sex) AS is_total, COUNT(*) AS n, AVG(sbp) AS sbp FROM cohort GROUP BY ROLLUP (sex);

SELECT sex, arm, GROUPING(sex, arm) AS level, COUNT(*) AS n FROM cohort GROUP BY GROUPING SETS ((sex, arm), (sex), (arm), ());

SELECT COUNT(*) FROM cohort WHERE region IN ('north', 'south') AND education NOT IN ('primary');

SELECT COUNT(*) FROM cohort WHERE education LIKE 'sec%' OR education ILIKE 'TER%';

SELECT BOOL_OR(died) AS any_death, BOOL_AND(age >= 18) AS adults_only FROM cohort;

SELECT arm, BOOL_OR(died) AS any_death, BOOL_AND(sbp < 220) AS all_below FROM cohort GROUP BY arm;

SELECT arm, MAX(age) < 100 AS no_centenarians, AVG(bmi) > 27 AS heavy FROM cohort GROUP BY arm;

# code: QG206
SELECT AVG(sbp) FROM cohort WHERE age > (SELECT AVG(age) FROM cohort);

SELECT COUNT(*) FROM cohort WHERE bmi >= (SELECT 30);

SELECT COUNT(*) FROM cohort WHERE region IN (SELECT region FROM cohort WHERE region LIKE '%th');

SELECT COUNT(*) FROM cohort WHERE patient_id IN (SELECT patient_id FROM cohort WHERE diabetes = 'yes');

SELECT COUNT(*) FROM cohort a WHERE EXISTS (SELECT 1 FROM cohort b WHERE b.patient_id = a.patient_id AND b.smoker = 'yes');

# code: QG206
SELECT COUNT(*) FROM cohort WHERE EXISTS (SELECT 1 FROM cohort WHERE died);

SELECT sex, COUNT(*) AS n FROM cohort WHERE smoker IN (SELECT DISTINCT smoker FROM cohort WHERE smoker = 'yes') GROUP BY sex;

SELECT region, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS rank FROM cohort GROUP BY region;

SELECT ROW_NUMBER() OVER (ORDER BY education) AS row, education, COUNT(*) AS n FROM cohort GROUP BY education ORDER BY row;

SELECT arm, region, AVG(los) AS los, DENSE_RANK() OVER (PARTITION BY arm ORDER BY AVG(los) DESC) AS place FROM cohort GROUP BY arm, region;
