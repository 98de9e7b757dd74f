-- dataset: cohort
-- PROC SQL, PROC MEANS and PROC FREQ, Stata's tabulate and summarize, written as SQL.

# code: QG204
# suggests: select sex, count(*) as N, mean(age) as Mean, STDDEV_SAMP(age) as StdDev, min(age) as Minimum, max(age) as Maximum from cohort group by sex
select sex, count(*) as N, mean(age) as Mean, std(age) as StdDev, min(age) as Minimum, max(age) as Maximum from cohort group by sex;

select arm, count(age) as n, count(*) - count(age) as nmiss, avg(age) as mean, stddev_samp(age) as std, median(age) as median from cohort group by arm;

# code: QG204
# suggests: select (COUNT(*) - COUNT(hba1c)) as nmiss from cohort
select nmiss(hba1c) as nmiss from cohort;

# code: QG204
# suggests: select sex, COUNT(age) as n, STDDEV_SAMP(age) as sd from cohort group by sex
select sex, n(age) as n, std(age) as sd from cohort group by sex;

# code: QG101
select smoker, count(*) as frequency, calculated frequency / 300 as share from cohort group by smoker;

select smoker, count(*) as frequency, 100 * count(*) / sum(count(*)) over () as percent,
       sum(count(*)) over (order by smoker) as cumulative_frequency,
       100 * sum(count(*)) over (order by smoker) / sum(count(*)) over () as cumulative_percent
from cohort group by smoker order by smoker;

select arm, smoker, count(*) as frequency,
       100.0 * count(*) / sum(count(*)) over () as percent,
       100.0 * count(*) / sum(count(*)) over (partition by arm) as row_percent,
       100.0 * count(*) / sum(count(*)) over (partition by smoker) as col_percent
from cohort where smoker is not null group by arm, smoker;

select quantile_cont(sbp, 0.01) as p1, quantile_cont(sbp, 0.05) as p5, quantile_cont(sbp, 0.25) as q1, median(sbp) as q2, quantile_cont(sbp, 0.75) as q3, quantile_cont(sbp, 0.95) as p95, quantile_cont(sbp, 0.99) as p99 from cohort;

select var_samp(sbp) as variance, stddev(sbp) as std, stddev(sbp) / sqrt(count(sbp)) as stderr, 100 * stddev(sbp) / avg(sbp) as cv, skewness(sbp) as skew, kurtosis(sbp) as kurt, sum(sbp) as total, sum(sbp * sbp) as uss from cohort;

# code: QG101
# suggests: select case when sex = 'female' then 1 else 0 end as female, mean(bmi) from cohort group by female
select case when sex = 'female' then 1 else 0 end as female, mean(bmi) from cohort group by calculated female;

# code: QG101
# suggests: select sum(case when smoker = 'yes' then 1 else 0 end) as smokers from cohort
select sum(case when smoker eq 'yes' then 1 else 0 end) as smokers from cohort;

# code: QG101
# suggests: select count(*) as n from cohort where smoker <> 'yes' and age >= 50
select count(*) as n from cohort where smoker ne 'yes' and age ge 50;

# code: QG203
# suggests: select count(*) from cohort where smoker IS NULL
select count(*) from cohort where smoker is missing;

# code: QG204
# suggests: select TRUNC(age / 10) * 10 as decade, count(*) from cohort group by 1
select int(age / 10) * 10 as decade, count(*) from cohort group by 1;

# code: QG204
select put(age, 3.) as age, count(*) from cohort group by 1;

select year(admitted) as yr, month(admitted) as mon, count(*) as n, mean(los) as mean_los from cohort group by yr, mon order by yr, mon;

select ntile(4) over (order by avg(bmi)) as quartile_of_regions, region, avg(bmi) as bmi from cohort group by region;

select percent_rank() over (order by avg(sbp)) as pr, region from cohort group by region;

select corr(sbp, dbp) as r, regr_slope(sbp, age) as slope, regr_intercept(sbp, age) as intercept, regr_r2(sbp, age) as r2, regr_count(sbp, age) as n from cohort;

select coalesce(smoker, 'missing') as smoker, coalesce(diabetes, 'missing') as diabetes, count(*) from cohort group by 1, 2;
