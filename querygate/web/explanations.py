"""What each error code means at more length: for the page /docs/refusals and for docs/reference/refusals.md.

Where `accepted` is given, `example` is a statement that is refused with the code, to the dataset `patients` with the
columns age, sex, sbp and visited, and `accepted` one that is not.
"""

from __future__ import annotations

from typing import NamedTuple


class Explanation(NamedTuple):
    """One code: what it means, what to do, and an example."""

    means: str
    do: str
    example: str
    accepted: str = ""


EXPLANATIONS: dict[str, Explanation] = {
    "QG101": Explanation(
        "The text is not SQL that can be read, or DuckDB would read it otherwise than it is read here. `span` tells "
        "where reading stopped.",
        "Correct the statement at that place. The dialect is DuckDB's, which is close to PostgreSQL's.",
        "SELECT COUNT(* FROM patients",
        "SELECT COUNT(*) FROM patients",
    ),
    "QG102": Explanation(
        "The statement is longer than the site reads (setting `max_sql_chars`), or has more than 5,000 words.",
        "Shorten it. A long `IN` list is often a `BETWEEN`.",
        "SELECT COUNT(*) FROM patients WHERE age IN (1, 2, 3, ... and so on for pages)",
    ),
    "QG103": Explanation(
        "Brackets, or a run of NOT or minus signs, are nested deeper than the site reads (setting `max_nesting`).",
        "Flatten the condition. Chains of AND, and chains of OR, need no brackets.",
        "SELECT COUNT(*) FROM patients WHERE ((((( ... age > 50 ... )))))",
    ),
    "QG104": Explanation(
        "The text holds more than one statement.",
        "Send one statement per request. Each is answered and logged by itself.",
        "SELECT COUNT(*) FROM patients; SELECT AVG(sbp) FROM patients",
        "SELECT COUNT(*), AVG(sbp) FROM patients",
    ),
    "QG201": Explanation(
        "The statement asks for records. The gate has none to show: it keeps classes of records only.",
        "Ask for aggregates, by group if you like.",
        "SELECT * FROM patients",
        "SELECT sex, COUNT(*), AVG(sbp) FROM patients GROUP BY sex",
    ),
    "QG202": Explanation(
        "The statement is not a SELECT. Nothing can be changed, made, dropped, set or shown through the gate.",
        "Ask for aggregates with SELECT.",
        "DELETE FROM patients",
        "SELECT COUNT(*) FROM patients",
    ),
    "QG203": Explanation(
        "The dataset has no column of that name. One that the policy withholds is unknown in the same words.",
        "Choose one of the columns that the remedy lists.",
        "SELECT AVG(spb) FROM patients",
        "SELECT AVG(sbp) FROM patients",
    ),
    "QG204": Explanation(
        "The function has no guaranteed range here: it depends on chance or on the time, it makes lists, or nobody has "
        "proved a range for it. Aggregates are admitted one by one, each with a proof.",
        "Use a function of the reference of SQL. The remedy names the most usual ones.",
        "SELECT ARRAY_AGG(sbp) FROM patients",
        "SELECT MIN(sbp), MEDIAN(sbp), MAX(sbp) FROM patients",
    ),
    "QG205": Explanation(
        "FROM takes the dataset that the request names, or a SELECT in brackets or in WITH that ends there; JOIN takes "
        "reference tables that the custodian registered. There are no functions, files, schemas or other datasets.",
        "Write FROM and the name of the dataset. Ask other datasets in requests of their own.",
        "SELECT COUNT(*) FROM patients JOIN visits ON patients.age = visits.age",
        "SELECT COUNT(*) FROM (SELECT * FROM patients WHERE age > 40) AS older",
    ),
    "QG206": Explanation(
        "A clause cannot be bounded, so it is refused rather than left out in silence: OVER, QUALIFY, UNION without "
        "ALL, samples, recursion, and queries that stand for a value.",
        "Leave out the clause, or say the same with WHERE, GROUP BY, HAVING or a query in FROM.",
        "SELECT AVG(sbp) OVER (PARTITION BY sex) FROM patients",
        "SELECT sex, AVG(sbp) FROM patients GROUP BY sex",
    ),
    "QG207": Explanation(
        "The expression cannot be bounded, or an aggregate does not take these arguments. Of one category, date or "
        "whole-number column any listed function will do, because every value of it is public and can be tried; of "
        "continuous columns, and of several, those that interval arithmetic knows.",
        "Write it with + - * /, CASE, COALESCE, ABS, ROUND, FLOOR, LN, EXP, SQRT, POWER, LEAST and GREATEST.",
        "SELECT SUM(AVG(sbp)) FROM patients",
        "SELECT AVG(sbp) - AVG(age), AVG(sbp / (age + 1)) FROM patients",
    ),
    "QG208": Explanation(
        "The condition is not one that can be decided on intervals and sets of values, or it speaks of aggregates in "
        "WHERE.",
        "Compare columns, values and expressions of one type: = <> < <= > >=, BETWEEN, IN, LIKE, IS NULL, joined by "
        "AND, OR and NOT. Conditions on aggregates go into HAVING.",
        "SELECT sex, COUNT(*) FROM patients WHERE AVG(age) > 40 GROUP BY sex",
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING AVG(age) > 40",
    ),
    "QG209": Explanation(
        "A value or a function does not fit the type of the column.",
        "Look up the type of the column, and write dates as DATE '2026-03-01'.",
        "SELECT AVG(sex) FROM patients",
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex",
    ),
    "QG210": Explanation(
        "Records can be grouped by what has few public values: categories, flags, whole numbers, dates, and "
        "expressions of them; continuous numbers in steps or by CASE. Single values of a continuous number are no "
        "groups, and neither is an aggregate.",
        "Group in steps: FLOOR(column / 10) * 10, WIDTH_BUCKET(column, 0, 100, 10), CASE, YEAR(date).",
        "SELECT COUNT(*) FROM patients GROUP BY SQRT(sbp + age)",
        "SELECT FLOOR(sbp / 10) * 10 AS step, COUNT(*) FROM patients GROUP BY step",
    ),
    "QG211": Explanation(
        "A column of the select list is neither grouped nor aggregated, so it has no single value in a group.",
        "Put it into GROUP BY, or aggregate it.",
        "SELECT sex, sbp, COUNT(*) FROM patients GROUP BY sex",
        "SELECT sex, AVG(sbp), COUNT(*) FROM patients GROUP BY sex",
    ),
    "QG212": Explanation(
        "The groups have more combinations of values than are answered at once (setting `max_groups`), or there are "
        "more than 64 grouping sets.",
        "Group by fewer columns or in wider steps, and pick values of the others with WHERE.",
        "SELECT visited, COUNT(*) FROM patients GROUP BY visited",
        "SELECT YEAR(visited), COUNT(*) FROM patients GROUP BY YEAR(visited)",
    ),
    "QG214": Explanation(
        "ORDER BY takes group keys, aggregates, arithmetic of them, aliases and positions of the select list; GROUP BY "
        "takes positions and aliases too. This is none of those, or more than one.",
        "Order by one of those.",
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY age",
        "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n",
    ),
    "QG215": Explanation(
        "Some records that may be selected have no result: a divisor may be zero, LN or SQRT may get a number it is "
        "not defined for, a whole number may need more than 64 bits. One such record would leave the figure open.",
        "Keep those records away with WHERE or HAVING, or divide by NULLIF(divisor, 0).",
        "SELECT AVG(sbp / (age - 50)) FROM patients",
    ),
    "QG216": Explanation(
        "Noise is made for how much one person can change a number. Of this statement that is not known, or it would "
        "have to be told without noise: which groups HAVING keeps, a minimum, arithmetic between numbers.",
        "Ask for COUNT, COUNT(DISTINCT column), SUM, AVG, MEDIAN or QUANTILE_CONT by public groups, and compute the "
        "rest from the answer; or ask for guaranteed ranges.",
        "SELECT MAX(sbp) FROM patients, as a noisy answer",
    ),
    "QG301": Explanation(
        "The request has no key, or one that is not valid: misspelt, revoked, or of a closed account. "
        "The answer is the same for all of these.",
        "Send the header `Authorization: Bearer qg_...`. A custodian can make a new key.",
        "curl http://127.0.0.1:8080/api/v1/datasets",
    ),
    "QG302": Explanation(
        "The key is valid, but this is for people with another role.",
        "Ask a custodian of the site.",
        "GET /api/v1/log with a researcher's key",
    ),
    "QG303": Explanation(
        "No dataset of that name is served. Names are small letters, digits and underscores.",
        "List the datasets and take a name from there.",
        '{"dataset": "Patients", "sql": "SELECT COUNT(*) FROM patients"}',
    ),
    "QG304": Explanation(
        "There is no such answer, or it is another person's. The two are not told apart.",
        "Ask the query again; only whoever asked it, and custodians, can fetch an answer.",
        "GET /api/v1/answers/q_01KJKB3Q00Z5V7N0M1C2X3Y4W5.csv",
    ),
    "QG305": Explanation(
        "The statement was stopped because it took more time or memory than one statement may "
        "(settings `query_timeout_s` and `query_memory_mb`). It is logged; nothing was disclosed.",
        "Ask for fewer groups or fewer columns at once.",
        "A statement with many groups to a very large dataset on a small machine",
    ),
    "QG306": Explanation(
        "The request is not what this place takes: the wrong method, a body that is not JSON, or a field that is "
        "missing, unknown or of the wrong type. The detail names it.",
        "Compare the request with /docs.",
        '{"dataset": "patients", "sql": 7}',
    ),
    "QG307": Explanation(
        "There is no page at this address.",
        "See /docs for all addresses.",
        "GET /api/v2/query",
    ),
    "QG308": Explanation(
        "The request is larger than the site reads (setting `max_body_kb`).",
        "Send a shorter statement.",
        "POST /api/v1/query with a megabyte of SQL",
    ),
    "QG309": Explanation(
        "It takes raw records, and the process that serves the gate has none: what it was never given it cannot leak. "
        "An audit is such a thing, and so are the values of the people it finds, and a risk report.",
        "Run `querygate audit run --dataset NAME` where the vault is, with `--reveal` for values, or `querygate risk "
        "--dataset NAME`. The gate then serves the findings at `/api/v1/audit/findings`, without values, and the "
        "report at `/api/v1/datasets/NAME/risk`.",
        "POST /api/v1/audit/run",
    ),
    "QG310": Explanation(
        "Noisy answers are counted in the raw rows, and the process that serves this gate has none.",
        "Ask for guaranteed ranges, which need the store alone; or ask the custodian.",
        "SELECT COUNT(*) FROM patients, as a noisy answer of a gate that serves the store alone",
    ),
    "QG311": Explanation(
        "The dataset's policy (`answers.modes`) does not allow answers of this kind.",
        "Leave out `mode` to be answered in the way that the policy allows.",
        "SELECT COUNT(*) FROM patients, as a noisy answer of a dataset that gives ranges alone",
    ),
    "QG501": Explanation(
        "Together with answers that were given before, to the same person or in the same project, this one could tell "
        "about fewer people than the dataset allows; or that could not be ruled out. It is decided before anything is "
        "computed, from which people questions are about, never from their secrets or from answers. The wording is "
        "the same whatever the reason; the custodian's log has it.",
        "Ask about other or larger groups. A question that was answered before is answered again.",
        "SELECT AVG(sbp) FROM patients WHERE age BETWEEN 40 AND 51, after the same up to 50",
    ),
    "QG401": Explanation(
        "A noisy answer costs some of the privacy budget: of the user, of their project and of the dataset. One of "
        "them has too little left. Nothing was computed, and nothing was spent.",
        "Ask something that was answered before, by anyone: it costs nothing. Or ask for guaranteed ranges, or ask the "
        "custodian.",
        "SELECT COUNT(*) FROM patients WHERE age > 61, as a noisy answer, when epsilon 0.05 is left and it costs 0.1",
    ),
    "QG601": Explanation(
        "A request for an extract goes from draft to submitted, in review, approved, built and released, and each step "
        "has its acts. This is none of those of the state it is in, or another process is working on it just now.",
        "Look at the request: `may` lists what you can do to it. Where somebody was faster, see what they decided.",
        "querygate export release x_01KJKB3Q00Z5V7N0M1C2X3Y4W5, of a request that is in review",
    ),
    "QG602": Explanation(
        "The act is possible now, but not for you: reviewing is for custodians who did not make the request, changing "
        "and withdrawing for whoever did. Nobody reviews their own request, and nobody approves twice.",
        "Ask a custodian, or another one.",
        "querygate export approve x_01KJKB3Q00Z5V7N0M1C2X3Y4W5 --as carl, when carl made the request",
    ),
    "QG603": Explanation(
        "There is no request with this id, or it is not yours and you are no custodian: both are said in one wording.",
        "List your requests with `querygate export list` or `GET /api/v1/exports`.",
        "GET /api/v1/exports/x_1",
    ),
    "QG604": Explanation(
        "A key of the request is missing, unknown or has a value that is not accepted. The detail begins with the key.",
        "Correct that key; the remedy lists what is accepted.",
        'k: a whole number from 2 to 100,000, for {"dataset": "trial", "purpose": "...", "k": 1}',
    ),
    "QG605": Explanation(
        "No extract can be made that keeps what was asked for: a group is smaller than k, or a tolerance cannot be "
        "kept together with the privacy. The request stays as it was.",
        "Follow the remedy: another k, fewer columns, a wider tolerance, another method.",
        "k = 50 for a category with 11 records",
    ),
    "QG606": Explanation(
        "A released extract can be fetched for so many days (setting `extract_days`). They are over, or a custodian "
        "has revoked it.",
        "Make a new request.",
        "GET /api/v1/exports/x_01KJKB3Q00Z5V7N0M1C2X3Y4W5/extract.zip, after 30 days",
    ),
    "QG607": Explanation(
        "A file of the extract was changed, is missing or was added, or its manifest is not the one on record. It is "
        "not given out.",
        "Do not use it. Fetch it again; a custodian builds it again where the site's own copy was changed.",
        "querygate export fetch --verify extract.zip",
    ),
    "QG801": Explanation(
        "The policy file has mistakes. The detail names each with its key and what is accepted there. "
        "Nothing was published.",
        "Correct the file; docs/reference/policy.md explains every key.",
        "policy.toml: columns.age.role: unknown; accepted: identifier, quasi-identifier, sensitive, public, withheld",
    ),
    "QG802": Explanation(
        "The source cannot be opened or read, or a value in it is not of the type that the policy gives its column. "
        "The value itself is never quoted. Nothing was published.",
        "Check the path and the format, and the types in the policy.",
        "querygate publish --policy policy.toml --source missing.csv",
    ),
    "QG803": Explanation(
        "The publication would not keep what the policy promises, so it was stopped. "
        "The version before goes on being served.",
        "Follow the remedy: publish more records, relax the promise that it names, or withhold a column.",
        "k = 50 for a source of 11 rows",
    ),
    "QG804": Explanation(
        "The site's folder is missing, is not complete, or is not what the command needs.",
        "Name another folder with `--site`, or make a site with `querygate init`; `querygate doctor` says more.",
        "querygate datasets --site /tmp/nothing",
    ),
    "QG805": Explanation(
        "A setting in querygate.toml or in the environment is unknown or has a value that is not accepted.",
        "Correct it; docs/reference/settings.md lists all settings.",
        'port = "eighty"',
    ),
    "QG806": Explanation(
        "A name is not valid, is taken, or is not there: of a user, a role or a key.",
        "Follow the remedy.",
        "querygate user add 'Ann Smith' --role researcher",
    ),
    "QG900": Explanation(
        "Something unexpected happened. What went wrong is in the server's log under the incident number; "
        "a message may quote data, so it is not shown. Nothing was disclosed.",
        "Tell the custodian the incident number.",
        "The gate failed on this request (incident i_5f0c3a4be6f0b19e).",
    ),
}
