SELECT COUNT(*) FROM patients WHERE age = 40;

SELECT COUNT(*) FROM patients WHERE age == 40 AND age != 41 AND age <> 42;

SELECT COUNT(*) FROM patients WHERE 40 <= age AND 120 > age AND 39 < age;

SELECT COUNT(*) FROM patients WHERE age BETWEEN 39 AND 40;

SELECT COUNT(*) FROM patients WHERE age BETWEEN ASYMMETRIC 40 AND 39;

SELECT COUNT(*) FROM patients WHERE age NOT BETWEEN 39 AND 40;

SELECT COUNT(*) FROM patients WHERE sbp BETWEEN NULL AND 120;

SELECT COUNT(*) FROM patients WHERE sbp NOT BETWEEN NULL AND 120;

SELECT COUNT(*) FROM patients WHERE age IN (40, 41, 120);

SELECT COUNT(*) FROM patients WHERE age IN ();

SELECT COUNT(*) FROM patients WHERE sbp NOT IN ();

SELECT COUNT(*) FROM patients WHERE sbp NOT IN (119, 120);

SELECT COUNT(*) FROM patients WHERE sbp IN (120, NULL);

SELECT COUNT(*) FROM patients WHERE sbp NOT IN (120, NULL);

SELECT COUNT(*) FROM patients WHERE sbp = NULL OR sbp <> NULL;

SELECT COUNT(*) FROM patients WHERE sbp IS NULL;

SELECT COUNT(*) FROM patients WHERE sbp IS NOT NULL AND weight NOTNULL AND city NOT NULL OR born ISNULL;

SELECT COUNT(*) FROM patients WHERE sbp IS DISTINCT FROM 120;

SELECT COUNT(*) FROM patients WHERE sbp IS NOT DISTINCT FROM NULL;

SELECT COUNT(*) FROM patients WHERE smoker;

SELECT COUNT(*) FROM patients WHERE NOT smoker AND smoker IS NOT UNKNOWN;

SELECT COUNT(*) FROM patients WHERE smoker = TRUE OR smoker IN (FALSE) OR smoker < TRUE OR smoker BETWEEN FALSE AND FALSE;

SELECT COUNT(*) FROM patients WHERE smoker IS NOT FALSE;

SELECT COUNT(*) FROM patients WHERE sbp > 119 IS NOT TRUE;

SELECT COUNT(*) FROM patients WHERE (sbp > 119 AND smoker) IS NOT TRUE;

SELECT COUNT(*) FROM patients WHERE (sbp > 119 OR city = 'Graz') IS FALSE;

-- NOT binds weaker than comparisons, BETWEEN, IN and IS, and stronger than AND.
SELECT COUNT(*) FROM patients WHERE NOT sbp = 120 AND age = 40;

SELECT COUNT(*) FROM patients WHERE NOT sbp IN (120) OR age = 40;

SELECT COUNT(*) FROM patients WHERE NOT sbp BETWEEN 119 AND 120 AND NOT smoker IS NULL;

SELECT COUNT(*) FROM patients WHERE NOT NOT smoker OR NOT NOT NOT sbp = 120 IS TRUE;

-- AND binds stronger than OR.
SELECT COUNT(*) FROM patients WHERE age = 40 OR sbp = 120 AND smoker OR sex = 'F' AND NOT smoker;

SELECT COUNT(*) FROM patients WHERE (age = 40 OR sbp = 120) AND (smoker OR sex = 'F') AND ((NOT (smoker)));

SELECT COUNT(*) FROM patients WHERE TRUE AND (FALSE OR NULL OR age = 40);

SELECT COUNT(*) FROM patients WHERE ((age)) = ((40)) AND (sbp) IS NOT NULL AND (city) IN (('Graz'), 'Wien');
