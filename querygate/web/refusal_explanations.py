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
        "The text is not valid SQL, or DuckDB would read it differently from the gate. `span` marks the place.",
        "Correct the statement there. The dialect is DuckDB's, which is close to PostgreSQL's.",
        "SELECT COUNT(* FROM patients",
        "SELECT COUNT(*) FROM patients",
    ),
    "QG102": Explanation(
        "The statement is longer than the site allows (setting `max_sql_chars`), or has more than 5,000 words.",
        "Shorten it. A long `IN` list can often be a `BETWEEN`.",
        "SELECT COUNT(*) FROM patients WHERE age IN (1, 2, 3, ... and so on for pages)",
    ),
    "QG103": Explanation(
        "Parentheses, or a run of NOT or minus signs, are nested more deeply than the site allows (setting "
        "`max_nesting`).",
        "Flatten the condition. Chains of AND, and chains of OR, need no parentheses.",
        "SELECT COUNT(*) FROM patients WHERE ((((( ... age > 50 ... )))))",
    ),
    "QG104": Explanation(
        "The text contains more than one statement.",
        "Send one statement per request. Each is answered and logged separately.",
        "SELECT COUNT(*) FROM patients; SELECT AVG(sbp) FROM patients",
        "SELECT COUNT(*), AVG(sbp) FROM patients",
    ),
    "QG201": Explanation(
        "The statement asks for individual records. The gate has none to show: it stores only classes of records.",
        "Ask for aggregates, by group if you like.",
        "SELECT * FROM patients",
        "SELECT sex, COUNT(*), AVG(sbp) FROM patients GROUP BY sex",
    ),
    "QG202": Explanation(
        "The statement is not a SELECT. Nothing can be created, changed, deleted or configured through the gate.",
        "Ask for aggregates with SELECT.",
        "DELETE FROM patients",
        "SELECT COUNT(*) FROM patients",
    ),
    "QG203": Explanation(
        "The dataset has no column with this name. Columns that the policy withholds get the same answer.",
        "Use one of the columns listed in the remedy.",
        "SELECT AVG(spb) FROM patients",
        "SELECT AVG(sbp) FROM patients",
    ),
    "QG204": Explanation(
        "The function has no guaranteed range: it depends on chance or on the time, it builds lists, or no range has "
        "been proved for it. Aggregates are admitted one by one, each with a proof.",
        "Use a function from the SQL reference. The remedy names the most common ones.",
        "SELECT ARRAY_AGG(sbp) FROM patients",
        "SELECT MIN(sbp), MEDIAN(sbp), MAX(sbp) FROM patients",
    ),
    "QG205": Explanation(
        "FROM accepts only the dataset that the request names, or a SELECT in parentheses or in WITH that reads it; "
        "JOIN accepts reference tables that the custodian has registered. Functions, files, schemas and other "
        "datasets are not allowed.",
        "Write FROM and the name of the dataset. Query other datasets in separate requests.",
        "SELECT COUNT(*) FROM patients JOIN visits ON patients.age = visits.age",
        "SELECT COUNT(*) FROM (SELECT * FROM patients WHERE age > 40) AS older",
    ),
    "QG206": Explanation(
        "No range can be computed for a clause, so it is refused rather than silently ignored: OVER and QUALIFY on "
        "single records, window functions other than sums, means, extremes, counts, ranks, LAG and LEAD, UNION "
        "without ALL, samples, recursion, and subqueries as values anywhere except next to aggregates.",
        "Remove the clause, or rewrite it with WHERE, GROUP BY, HAVING or a subquery in FROM. Window functions over "
        "groups are accepted.",
        "SELECT AVG(sbp) OVER (PARTITION BY sex) FROM patients",
        "SELECT sex, AVG(sbp) FROM patients GROUP BY sex",
    ),
    "QG207": Explanation(
        "No range can be computed for the expression, or an aggregate does not accept these arguments. Any listed "
        "function works on a single category, date or whole-number column, because all its possible values are public "
        "and can be tried. For continuous columns, and for several columns, only functions covered by interval "
        "arithmetic work.",
        "Use + - * /, CASE, COALESCE, ABS, ROUND, FLOOR, LN, EXP, SQRT, POWER, LEAST and GREATEST.",
        "SELECT SUM(AVG(sbp)) FROM patients",
        "SELECT AVG(sbp) - AVG(age), AVG(sbp / (age + 1)) FROM patients",
    ),
    "QG208": Explanation(
        "The condition cannot be evaluated on intervals and sets of values, or it uses an aggregate in WHERE.",
        "Compare columns, values and expressions of the same type with = <> < <= > >=, BETWEEN, IN, LIKE and IS NULL, "
        "combined with AND, OR and NOT. Put conditions on aggregates in HAVING.",
        "SELECT sex, COUNT(*) FROM patients WHERE AVG(age) > 40 GROUP BY sex",
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING AVG(age) > 40",
    ),
    "QG209": Explanation(
        "A value or a function does not match the type of the column. A median or quantile of decimals or of FLOAT is "
        "refused too, because the database would round the result to the column's digits.",
        "Look up the type of the column. Write dates as DATE '2026-03-01'. Cast decimals to DOUBLE.",
        "SELECT AVG(sex) FROM patients",
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex",
    ),
    "QG210": Explanation(
        "You can group by anything with few public values: categories, flags, whole numbers, dates, and expressions "
        "of them; continuous numbers in steps or with CASE. You cannot group by the individual values of a continuous "
        "number, or by an aggregate.",
        "Group in steps: FLOOR(column / 10) * 10, WIDTH_BUCKET(column, 0, 100, 10), CASE, YEAR(date).",
        "SELECT COUNT(*) FROM patients GROUP BY SQRT(sbp + age)",
        "SELECT FLOOR(sbp / 10) * 10 AS step, COUNT(*) FROM patients GROUP BY step",
    ),
    "QG211": Explanation(
        "A column in the select list is neither grouped nor aggregated, so it has no single value per group.",
        "Add it to GROUP BY, or aggregate it.",
        "SELECT sex, sbp, COUNT(*) FROM patients GROUP BY sex",
        "SELECT sex, AVG(sbp), COUNT(*) FROM patients GROUP BY sex",
    ),
    "QG212": Explanation(
        "The group columns have more combinations of values than the limit allows (setting `max_groups`), or there "
        "are more than 64 grouping sets.",
        "Group by fewer columns or in wider steps, and restrict the other columns with WHERE.",
        "SELECT visited, COUNT(*) FROM patients GROUP BY visited",
        "SELECT YEAR(visited), COUNT(*) FROM patients GROUP BY YEAR(visited)",
    ),
    "QG214": Explanation(
        "ORDER BY accepts group keys, aggregates, arithmetic on them, and aliases and positions of the select list; "
        "GROUP BY accepts positions and aliases too. This is none of them, or it is ambiguous.",
        "Order by one of those.",
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY age",
        "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n",
    ),
    "QG215": Explanation(
        "Some records that may be selected have no result: a divisor may be zero, LN or SQRT may get a number it is "
        "not defined for, or a whole number may need more than 64 bits. One such record would leave the result "
        "undefined.",
        "Exclude those records with WHERE or HAVING, or divide by NULLIF(divisor, 0).",
        "SELECT AVG(sbp / (age - 50)) FROM patients",
    ),
    "QG216": Explanation(
        "The amount of noise depends on how much one person can change a number. For this statement that is not "
        "known, or part of it cannot be answered with noise: HAVING, a minimum or maximum, arithmetic between results.",
        "Use COUNT, COUNT(DISTINCT column), SUM, AVG, MEDIAN or QUANTILE_CONT by public groups, and compute the rest "
        "from the answer; or ask for guaranteed ranges.",
        "SELECT MAX(sbp) FROM patients, as a noisy answer",
    ),
    "QG217": Explanation(
        "The dataset is published as views: each covers a few columns, with one sensitive column or one group of "
        "sensitive columns that the policy links. No view covers all the sensitive columns that an aggregate in this "
        "statement uses, including its conditions and groups, so no range can be computed. Or the statement tests a "
        "list of codes for codes that are not whole groups named in the policy.",
        "Use one of the columns at a time. If you need them together, the custodian can link them: `linked` in the "
        "table `[views]` of the policy. The description of the dataset says which columns are linked, and lists the "
        "groups of codes you can use.",
        "SELECT CORR(sbp, bmi) FROM patients, where sbp and bmi are not linked",
    ),
    "QG218": Explanation(
        "The formula of a model cannot be read, names something that does not exist, or has more terms than can be "
        "fitted.",
        "Write it as outcome ~ term + term, with columns, conditions, bands(column) and products a:b as terms; with "
        "strata after a bar (|) for Mantel-Haenszel and standardised rates.",
        "diabetes ~ sex + bmi, where bmi is a number: write bands(bmi)",
    ),
    "QG219": Explanation(
        "The answer that the model is computed from does not determine it: a level may have no records, the "
        "covariates may predict the outcome perfectly, or the counts are too uncertain to bound the coefficients. The "
        "answer itself is available under the query_id.",
        "Follow the cuts of the dataset, as bands(column) does; use fewer or coarser factors, or columns that are "
        "published together.",
        "diabetes ~ ethnicity + education, where no view has both",
    ),
    "QG301": Explanation(
        "The request has no key, or the key is not valid: mistyped, revoked, expired, or from a closed account. The "
        "reply is the same in each case.",
        "Send the header `Authorization: Bearer qg_...`. An admin can create a new key.",
        "curl http://127.0.0.1:8080/api/v1/datasets",
    ),
    "QG302": Explanation(
        "The key is valid, but this needs another role, or a key with another scope.",
        "Ask someone with the right role, or use another key.",
        "GET /api/v1/log with a researcher's key",
    ),
    "QG303": Explanation(
        "No dataset with this name is served, or you have no grant for it; the reply is the same in both cases. Names "
        "consist of lowercase letters, digits and underscores.",
        "List the datasets and use a name from the list, or ask the custodian for a grant.",
        '{"dataset": "Patients", "sql": "SELECT COUNT(*) FROM patients"}',
    ),
    "QG304": Explanation(
        "There is no such answer, or it belongs to another person. Both cases get the same reply.",
        "Send the query again. Only the person who sent it, custodians and auditors can fetch an answer.",
        "GET /api/v1/answers/q_01KJKB3Q00Z5V7N0M1C2X3Y4W5.csv",
    ),
    "QG305": Explanation(
        "The statement was stopped because it took more time or memory than one statement may use (settings "
        "`query_timeout_s` and `query_memory_mb`). It is logged; nothing was disclosed.",
        "Use fewer groups or fewer columns per statement.",
        "A statement with many groups, on a very large dataset and a small machine",
    ),
    "QG306": Explanation(
        "This address does not accept the request: the method is wrong, the body is not JSON, or a field is missing, "
        "unknown or of the wrong type. The detail names it.",
        "Compare the request with /docs.",
        '{"dataset": "patients", "sql": 7}',
    ),
    "QG307": Explanation(
        "There is no page at this address.",
        "See /docs for all addresses.",
        "GET /api/v2/query",
    ),
    "QG308": Explanation(
        "The request is larger than the site accepts (setting `max_body_kb`).",
        "Send a shorter statement.",
        "POST /api/v1/query with a megabyte of SQL",
    ),
    "QG309": Explanation(
        "This needs raw records, and the gate has none: it cannot leak what it was never given. This applies to "
        "audits, to the values of people whom an audit finds, and to risk reports.",
        "Run `querygate audit run --dataset NAME` on the machine with the vault, with `--reveal` for values, or "
        "`querygate risk --dataset NAME`. The gate then serves the findings, without values, at "
        "`/api/v1/audit/findings`, and the risk report at `/api/v1/datasets/NAME/risk`.",
        "POST /api/v1/audit/run",
    ),
    "QG310": Explanation(
        "Noisy answers are computed from the raw rows, and this gate has no access to them.",
        "Ask for guaranteed ranges, which need only published data, or ask the custodian.",
        "SELECT COUNT(*) FROM patients, as a noisy answer from a gate that has only published data",
    ),
    "QG311": Explanation(
        "The dataset's policy (`answers.modes`) does not allow this kind of answer.",
        "Leave out `mode` to get the kind of answer that the policy allows.",
        "SELECT COUNT(*) FROM patients, as a noisy answer from a dataset that gives only ranges",
    ),
    "QG312": Explanation(
        "A custodian has taken the dataset out of service. No version of it answers queries, and no extract of it is "
        "built or released. Answers that were given before can still be fetched.",
        "Ask the custodian whether it will come back, or use another dataset.",
        '{"dataset": "patients", "sql": "SELECT COUNT(*) FROM patients"}, after `querygate withdraw patients`',
    ),
    "QG313": Explanation(
        "You may query this dataset, but not in this mode. Grants are given for guaranteed ranges, for noisy answers "
        "and for extracts.",
        "Use another mode, or ask the custodian for a grant: `querygate grant add`.",
        "SELECT COUNT(*) FROM patients, as a noisy answer with a grant for ranges only",
    ),
    "QG314": Explanation(
        "Noisy answers, their prices and the inline audit need the raw rows. The gate has none: it queues a job for "
        "the custodian's worker, which does. No worker took the job in time, or the worker has another version of the "
        "dataset.",
        "Try again in a moment. If this continues, ask the custodian whether `querygate work` is running.",
        "POST /api/v1/query/check for a noisy answer, while no worker is running",
    ),
    "QG315": Explanation(
        "The job was cancelled before it finished, by the person who sent the request. If a worker had already "
        "started on a noisy answer, its budget stays spent.",
        "Send the request again.",
        "DELETE /api/v1/jobs/j_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
    ),
    "QG316": Explanation(
        "There is no job with this id, it ended so long ago that it was deleted, or it belongs to someone else. The "
        "reply is the same in each case.",
        "Send the request again.",
        "GET /api/v1/jobs/j_00000000000000000000000000",
    ),
    "QG317": Explanation(
        "Too many invalid keys were tried from your address. Keys accepted earlier still work.",
        "Wait as long as `Retry-After` says, then use a valid key.",
        "GET /api/v1/datasets with many wrong keys, one after the other",
    ),
    "QG318": Explanation(
        "The site limits each user: requests per minute, requests at the same time, and bytes, rows and processor "
        "time per day (UTC). The detail says which limit was reached. Nothing was computed, and no budget was spent.",
        "Wait as long as the header `Retry-After` says. The limits are settings; the custodian can change them.",
        "POST /api/v1/query a thousand times within a minute",
    ),
    "QG319": Explanation(
        "The sign-in did not complete correctly: it took longer than ten minutes, ended in another browser, was "
        "cancelled at the single sign-on provider, or the provider's reply is not valid.",
        "Start again from the sign-in page. If it happens every time, ask an admin to compare the gate's clock, "
        "issuer and client with the provider's.",
        "GET /sign-in/callback?code=...&state=... a second time",
    ),
    "QG320": Explanation(
        "The single sign-on provider did not reply in time, or its reply could not be understood. Keys work without "
        "it.",
        "Sign in with a key, or try again in a minute.",
        "GET /sign-in/provider while the provider is being restarted",
    ),
    "QG321": Explanation(
        "The provider knows the person, but none of their groups has a role here, their account is closed, or an "
        "account with their name belongs to someone else. Nobody can take over an account just by having the same "
        "name.",
        "Ask an admin, who can give a group a role in the single sign-on file, or link an account to a sign-in.",
        "GET /sign-in/callback, as someone without a group",
    ),
    "QG322": Explanation(
        "The site's settings name no single sign-on provider, so programs cannot sign in this way.",
        "Use a key.",
        "querygate login --url https://gate.example.org",
    ),
    "QG323": Explanation(
        "The sign-in code of a program is unknown, was already used or denied, or is older than ten minutes.",
        "Start again with `querygate login`.",
        "POST /api/v1/device/token, after the person has denied it",
    ),
    "QG324": Explanation(
        "Nothing is saved under this id, or it is private, or it is shared about a dataset for which you have no "
        "grant. The message is the same in all cases, so that nobody learns what others keep.",
        "Ask the person who gave you the address to share it, and the custodian for a grant.",
        "GET /api/v1/saved/s_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
    ),
    "QG325": Explanation(
        "A request with the same `Idempotency-Key` arrived earlier, and the gate is still working on it. It is one "
        "question, however often it is sent.",
        "Wait as long as `Retry-After` says, and send it again with the same key to get its answer.",
        "POST /api/v1/query, twice at the same time, with the same Idempotency-Key",
    ),
    "QG401": Explanation(
        "A noisy answer uses up some of the privacy budget of the user, of their project and of the dataset. One of "
        "these budgets has too little left. Nothing was computed, and nothing was spent.",
        "Repeat a query that anyone has sent before, which is free; use guaranteed ranges; or ask the custodian for "
        "more budget.",
        "SELECT COUNT(*) FROM patients WHERE age > 61, as a noisy answer, when epsilon 0.05 is left and it costs 0.1",
    ),
    "QG402": Explanation(
        "The ledger for this budget does not match what the log says was spent: someone changed the ledger by hand, "
        "or restored an old copy. Until the custodian has repaired it, nothing can be spent from it. Answers already "
        "paid for can still be repeated, and ranges are not affected.",
        "Use guaranteed ranges in the meantime. For custodians: `querygate doctor` shows what differs, and `querygate "
        "budget rebuild` rebuilds the ledger from the log.",
        "SELECT COUNT(*) FROM patients WHERE age > 61, as a noisy answer, after rows of the ledger were deleted",
    ),
    "QG501": Explanation(
        "Combined with earlier answers to the same person or project, this answer could reveal something about fewer "
        "people than the dataset allows, or this could not be ruled out. The decision is made before anything is "
        "computed. It depends on which people the queries are about, never on their sensitive values or on answers. "
        "The message is the same whatever the reason; the custodian's log has the reason.",
        "Query other or larger groups. A query that has been answered before can be repeated.",
        "SELECT AVG(sbp) FROM patients WHERE age BETWEEN 40 AND 51, after the same up to 50",
    ),
    "QG601": Explanation(
        "An extract request goes through the states draft, submitted, in review, approved, built and released, and "
        "each state allows certain actions. This action is not allowed in the current state, or another process is "
        "working on the request right now.",
        "Look at the request: `may` lists what you can do. If someone else acted first, see what they decided.",
        "querygate export release x_01KJKB3Q00Z5V7N0M1C2X3Y4W5, for a request that is in review",
    ),
    "QG602": Explanation(
        "The action is possible now, but not for you: only reviewers and custodians who did not make the request can "
        "review it, only custodians can build it, and only the person who made it can change or withdraw it. Nobody "
        "reviews their own request, and nobody approves twice.",
        "Ask a reviewer, or another reviewer. If it is your own request, say who you are: on the command line with "
        "`--as NAME`, over HTTP with your own key.",
        "querygate export approve x_01KJKB3Q00Z5V7N0M1C2X3Y4W5 --as carl, when carl made the request",
    ),
    "QG603": Explanation(
        "There is no request with this id, or it is not yours and you are neither a reviewer nor a custodian. The "
        "reply is the same in each case.",
        "List your requests with `querygate export list` or `GET /api/v1/exports`.",
        "GET /api/v1/exports/x_1",
    ),
    "QG604": Explanation(
        "A key of the request is missing, unknown, or has a value that is not accepted. The detail begins with the "
        "key.",
        "Correct that key. The remedy lists what is accepted.",
        'k: a whole number from 2 to 100,000, for {"dataset": "trial", "purpose": "...", "k": 1}',
    ),
    "QG605": Explanation(
        "No extract can be made as requested: a group is smaller than k, or a tolerance cannot be met together with "
        "the privacy guarantees. The request stays as it is.",
        "Follow the remedy: change k, use fewer columns, a wider tolerance or another method.",
        "k = 50 for a category with 11 records",
    ),
    "QG606": Explanation(
        "A released extract can be fetched for a limited number of days (setting `extract_days`). They have passed, "
        "or a custodian has revoked the extract.",
        "Make a new request.",
        "GET /api/v1/exports/x_01KJKB3Q00Z5V7N0M1C2X3Y4W5/extract.zip, after 30 days",
    ),
    "QG607": Explanation(
        "A file in the extract was changed, is missing or was added, or the manifest does not match the one in the "
        "log. The extract is not handed out.",
        "Do not use it. Fetch it again. If the site's own copy was changed, a custodian must build it again.",
        "querygate export fetch --verify extract.zip",
    ),
    "QG608": Explanation(
        "The dataset is published as views. Their certificates cover only the views: combined with an extract of "
        "records, they can reveal whole records of single people. Nothing was approved, built or released.",
        "Use statistics or synthetic records instead. If the recipient may know single people's records, every "
        "reviewer must approve with `beside_views`, which is logged.",
        "querygate export approve x_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
    ),
    "QG609": Explanation(
        "A limited data set (45 CFR 164.514(e)) needs a data use agreement. None was named, it has ended, or another "
        "reviewer named a different one. Nothing was approved, built or released.",
        "Approve with the signed agreement: who signed, the SHA-256 of its text, and its last day.",
        "querygate export approve x_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
    ),
    "QG801": Explanation(
        "The policy file has errors. The detail names each one with its key and what is accepted there. Nothing was "
        "published.",
        "Correct the file; docs/reference/policy.md explains every key.",
        "policy.toml: columns.age.role: unknown; accepted: identifier, quasi-identifier, sensitive, public, withheld",
    ),
    "QG802": Explanation(
        "The source cannot be opened or read, or a value in it does not have the type that the policy gives its "
        "column. The value itself is never quoted. Nothing was published.",
        "Check the path and the format, and the types in the policy.",
        "querygate publish --policy policy.toml --source missing.csv",
    ),
    "QG803": Explanation(
        "The publication would not meet the guarantees of the policy, so it was stopped. The previous version is "
        "still served.",
        "Follow the remedy: publish more records, relax the guarantee it names, or withhold a column.",
        "k = 50 for a source of 11 rows",
    ),
    "QG804": Explanation(
        "The site folder is missing, is incomplete, or is not what the command needs.",
        "Name another folder with `--site`, or create a site with `querygate init`; `querygate doctor` shows more.",
        "querygate datasets --site /tmp/nothing",
    ),
    "QG805": Explanation(
        "A setting in querygate.toml or in the environment is unknown or has a value that is not accepted.",
        "Correct it; docs/reference/settings.md lists all settings.",
        'port = "eighty"',
    ),
    "QG806": Explanation(
        "The name of a user, a project or a dataset is not valid or is taken; a role, scope, mode or kind of log "
        "entry does not exist; or a date is not valid or has passed.",
        "Follow the remedy.",
        "querygate user add 'Ann Smith' --role researcher",
    ),
    "QG807": Explanation(
        "The control database ends before the last point marked outside it: someone restored an old copy. Budget "
        "spent since then would be forgotten, so nothing is served and nothing can be spent.",
        "Bring the log up to date from a later export or from archives, or write off the unknown spending.",
        "querygate restore --log log.jsonl",
    ),
    "QG808": Explanation(
        "No user has this name, no key this id, or no grant this id. Removed users are not found either.",
        "List the existing ones and check the spelling.",
        "querygate user disable nobody",
    ),
    "QG809": Explanation(
        "The change would close, remove or demote the last custodian with an active account.",
        "Add another custodian first.",
        "querygate user disable carl",
    ),
    "QG900": Explanation(
        "Something unexpected happened. The details are in the server's log under the incident number. They are not "
        "shown, because an error message may quote data. Nothing was disclosed.",
        "Give the custodian the incident number.",
        "The gate failed while handling this request (incident i_5f0c3a4be6f0b19e).",
    ),
}
