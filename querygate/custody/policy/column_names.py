"""What the name of a column says about it: is it age, a diagnosis, a place, a measured quantity?

English words, and the short names of common medical tables (NHANES, MIMIC, OMOP, claims). Names are compared as the
words of `words_of`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from querygate.custody.policy.identifier_signs import words_of

_AGE = r"((patient|subject|person|anchor|copy|current|entry|baseline) )?age( (yrs?|years?|(at|in) .*))?|ridageyr"
_WHEN = r"(date|dt|time|day|year|month|place|country)"

QUASI = (
    rf"^({_AGE})$|(^|(?<!same) )sex( (cd|code|ident( cd)?|at birth))?$|\b(gender|gendr|geschlecht|sexe|sexo)\b"
    r"|\b(races?|race[0-9]|ethnic(ity)?)\b"
    r"|\b(skin|religion|language|nationality|citizen(ship)?|marital|married|relationship|veteran|military)\b"
    r"|\b(zip|zipcode|zip[35]|post ?code|postal|plz|city|town|county|state|region|province|district|country|nation)\b"
    rf"|\b(dob|born|birth|birthday|birthplace)\b|\b(death|admission|admit|admsn|discharge|dschrg|visit) {_WHEN}\b"
    r"|\b(household|children|housing|home own|education|educ|degree|school(ing)?|occupation|job|profession)\b"
    r"|\b(industry|employ(ment|er|ed)?|work|workclass|hospital|clinic|ward|department|facility|site)\b"
    r"|^(riagendr|ridageyr|ridreth[0-9]|dmdcitzn|dmdeduc[0-9]|dmdmartl|dmdhhsiz|anchor year)$"
)
"""Others could know it about a person, see it or look it up."""

SENSITIVE = (
    r"\b(diagnos[ie]s|diag|dx|dgns|icd[0-9]*|disease|condition|symptoms?|comorbid(ity)?|cancer|tumou?r|stage|grade)\b"
    r"|\b(hiv|aids|std|hepatitis|diabetes|depress(ed|ion)?|mental|psych\w*|suicid\w*|pregnan(t|cy|cies)|abortion)\b"
    r"|\b(drugs?|medication|treatment|therapy|procedure|prcdr|surgery|vaccin\w*|dose|outcome|death cause|cause)\b"
    r"|\b(smok\w*|tobacco|alcohol|marij\w*|cannabis|sexual\w*|orientation|partner\w*|abuse)\b"
    r"|\b(income|salary|wage|earnings|pay|payment|pymt|pmt|cost|charges?|reimb\w*|medreimb|benres|pppymt|debt|poverty|insurance)\b"
    r"|\b(bp|blood|pressure|systolic|diastolic|sbp|dbp|pulse|heart|bmi|glucose|hba1c|a1c|chol\w*|ldl|hdl|creatinine)\b"
    r"|\b(lab|result|test|score|level|count|concentration|viral|cd4|weight|height|temperature)\b"
    r"|^(bpx|bmx|alq|smq|sp )\w*|^salary class$"
)
"""Must not be learned about a person."""

AGE = rf"^({_AGE})$"
BIRTH = r"\b(dob|birth ?(date|day|dt)?|date of birth|born)\b"
POSTCODE = r"\b(zip|zipcode|zip ?code|zip[35]|post ?code|postal|plz)\b"
DIAGNOSIS = r"\b(icd[0-9]*|icd ?(9|10)|diag\w*|dx[0-9]*|dgns|disease|cause)\b"
PROCEDURE = r"\b(prcdr|proc\w*|surg\w*|operation)\b"
CODE = (
    r"\b(cd|code|concept id|type|category|status|class|group|grp|psu|strat(a|um)|year)\b"
    r"|\b(state|county|region|province|district|country|races?|ethnic\w*|gender|sex|marital|education|occupation)\b"
)
AMOUNT = r"\b(number|num|n|count|days?|hours|hrs|times|score|size|siz|rooms|age|mons?|months?|hhsiz)\b"
REMARKS = r"\b(remarks?|comments?|notes?|memo|free ?text|narrative|description|letter|bemerkung(en)?)\b"
FINER_AGE = r"\bage\b.*\b(months?|mons?|days|weeks)\b|\b(months?|days) old\b"

QUANTITIES: tuple[tuple[str, float, float], ...] = (
    (r"\b(systolic|sbp|bp sys\w*|sys ?bp|bpxsy[0-9]?)\b", 40, 300),
    (r"\b(diastolic|dbp|bp dia\w*|dia ?bp|bpxdi[0-9]?)\b", 0, 200),
    (r"\b(pulse|heart rate|hr|bpm)\b", 20, 250),
    (r"\b(bmi|body mass index|bmxbmi)\b", 5, 150),
    (r"\b(height|ht|bmxht)\b", 30, 250),
    (r"\b(weight|wt|bmxwt)\b", 0, 400),
    (r"\b(temperature|temp)\b", 25, 45),
    (r"\b(hba1c|a1c)\b", 2, 25),
)
"""Quantities whose usual range is public knowledge, in the usual unit. They are taken where the data fits in."""


_SEXES = frozenset(
    {"f", "m", "w", "female", "male", "woman", "man", "women", "men", "weiblich", "männlich", "frau", "mann"}
)


def are_sexes(values: Iterable[str]) -> bool:
    """Do values say the sex of people, whatever the column is called?

    >>> are_sexes(["F", "M"]), are_sexes(["no", "yes"])
    (True, False)
    """
    return {value.strip().lower() for value in values} <= _SEXES


def says(pattern: str, name: str) -> bool:
    """Does the name of a column speak of it?

    >>> says(AGE, "patient_age"), says(AGE, "DiabetesAge"), says(SENSITIVE, "BPSysAve")
    (True, False, True)
    """
    return re.search(pattern, words_of(name)) is not None
