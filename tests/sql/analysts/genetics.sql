-- dataset: cohort
-- Association with a genotype: three ordered values (education stands for AA, AG, GG) and an outcome, as in a genome-wide study.

SELECT education AS genotype, COUNT(*) AS n, COUNT(*) FILTER (WHERE died) AS cases FROM cohort GROUP BY education ORDER BY education;

SELECT REGR_COUNT(died::int, CASE education WHEN 'primary' THEN 0 WHEN 'secondary' THEN 1 WHEN 'tertiary' THEN 2 END)
     * REGR_R2(died::int, CASE education WHEN 'primary' THEN 0 WHEN 'secondary' THEN 1 WHEN 'tertiary' THEN 2 END) AS armitage_trend
FROM cohort;

SELECT CHI_SQUARE(education <> 'primary', died) AS dominant, CHI_SQUARE(education = 'tertiary', died) AS recessive, ODDS_RATIO(education <> 'primary', died) AS odds FROM cohort;

SELECT died, SUM(CASE education WHEN 'primary' THEN 0 WHEN 'secondary' THEN 1 ELSE 2 END) / (2.0 * COUNT(*)) AS allele_frequency FROM cohort GROUP BY died;

WITH alleles AS (
  SELECT 2.0 * COUNT(*) AS n, 2.0 * COUNT(*) FILTER (WHERE died) AS r,
         SUM(CASE education WHEN 'primary' THEN 0 WHEN 'secondary' THEN 1 ELSE 2 END) AS g,
         SUM(CASE education WHEN 'primary' THEN 0 WHEN 'secondary' THEN 1 ELSE 2 END) FILTER (WHERE died) AS gr
  FROM cohort WHERE died IS NOT NULL)
SELECT n * POWER(n * gr - r * g, 2) / (r * (n - r) * g * (n - g)) AS allelic_chi_square FROM alleles;
