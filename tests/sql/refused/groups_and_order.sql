# code: QG212
SELECT COUNT(*) FROM patients GROUP BY born;

# code: QG210
SELECT COUNT(*) AS n FROM patients GROUP BY n;

# code: QG210
SELECT sex, COUNT(*) FROM patients GROUP BY 2;

# code: QG210
SELECT sex, COUNT(*) FROM patients GROUP BY (sex, city);

# code: QG214
SELECT sex, COUNT(*) FROM patients GROUP BY 3;

# code: QG214
SELECT sex, COUNT(*) FROM patients GROUP BY 0;

# code: QG211
SELECT sex, COUNT(*) FROM patients GROUP BY '1';

# code: QG212
# max_groups: 20
SELECT sex, city, COUNT(*) FROM patients GROUP BY sex, city;

-- DuckDB takes the last of two columns of a name: nobody should have to know.
# code: QG214
SELECT sex AS s, city AS s, COUNT(*) FROM patients GROUP BY s, city;

# code: QG214
SELECT sex AS s, COUNT(*) AS s FROM patients GROUP BY sex ORDER BY s;

# code: QG214
SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY 3;

# code: QG214
SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY AVG(age), 3;

# code: QG214
SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY city;

# code: QG214
SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY age;

# code: QG214
SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY -1;

# code: QG214
SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY 'sex';

# code: QG203
SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY count;

# code: QG101
SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY ALL, sex;

# code: QG204
SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY sex COLLATE NOCASE;

-- The name of the table is the whole row.
# code: QG203
SELECT sex AS s, COUNT(*) FROM patients s GROUP BY s;

# code: QG211
SELECT GROUPING(city), COUNT(*) FROM patients GROUP BY ROLLUP (sex);

# code: QG211
SELECT GROUPING(sex), COUNT(*) FROM patients;
