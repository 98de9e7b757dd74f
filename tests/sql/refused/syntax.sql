-- Not SQL, or not one statement.
# code: QG101
hello world, how many patients;

# code: QG101
EXPORT DATABASE 'x';

# code: QG101
IMPORT DATABASE 'x';

# code: QG101
SELECT COUNT(* FROM patients;

# code: QG101
SELECT COUNT(*) FROM patients WHERE;

# code: QG101
SELECT COUNT(*) FROM patients WHERE age =;

# code: QG101
SELECT COUNT(*) FROM patients WHERE age = 40 AND;

# code: QG101
SELECT COUNT(*) FROM patients WHERE city = 'Graz;

# code: QG101
SELECT COUNT(*) FROM patients WHERE (age = 40;

# code: QG101
SELECT COUNT(*) FROM patients WHERE age = 40);

# code: QG101
SELECT TOP 1 COUNT(*) FROM patients;

# code: QG101
SELECT COUNT(*) FROM patients WHERE age = 0x28;

# code: QG101
SELECT COUNT(*) FROM patients WHERE age = 1__0;

# code: QG101
SELECT COUNT(*) FROM `patients`;

# code: QG101
SELECT COUNT(*) FROM patients # a comment elsewhere;

# code: QG101
SELECT COUNT(*) FROM patients /* never closed;

# code: QG104
SELECT COUNT(*) FROM patients; SELECT COUNT(*) FROM patients;

# code: QG104
SELECT COUNT(*) FROM patients; DROP TABLE patients;

# code: QG102
# max_sql_chars: 40
SELECT COUNT(*) FROM patients WHERE age > 40;

# code: QG103
SELECT COUNT(*) FROM patients WHERE ((((((((((((((((((((((((((((((((((((((((((((((((((((age = 40))))))))))))))))))))))))))))))))))))))))))))))))))));

# code: QG103
SELECT COUNT(*) FROM patients WHERE NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT smoker;

# code: QG103
SELECT AVG(weight + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1) FROM patients;

# code: QG102
SELECT COUNT(*) FROM patients JOIN p JOIN p JOIN p JOIN p JOIN p JOIN p JOIN p JOIN p JOIN p JOIN p JOIN p JOIN p;
