"""What names of columns say: those of surveys, and in other languages."""

from __future__ import annotations

import pytest

from querygate.custody.policy.column_names import are_sexes, is_birth, kind_of
from tests.each import each

KINDS = {
    "age": ("_AGE80", "AGEP_A", "agea", "âge", "Alter_in_Jahren", "age_dx", "DxAge", "edad", "età"),
    "age_band": ("_AGEG5YR", "AgeDecade", "age_group", "Altersgruppe", "tranche_d_age"),
    "birth": ("yrbrn", "année_naissance", "birth", "patient_birth", "anno_di_nascita", "date_of_live_birth"),
    "sex": ("SEXVAR", "gndr", "sexe", "Geschlecht", "SEX_A", "sex_at_birth"),
    "place": ("birth_place", "place of birth", "lieu_de_naissance", "Geburtsort"),
    "ethnicity": ("_RACE", "HISPAN", "nwhite", "RACEALLP_A"),
    "education": ("EDUCA", "eisced", "Schulabschluss", "niveau_diplôme", "titolo_di_studio"),
    "marital": ("MARST", "situation_familiale", "estado_civil", "Familienstand"),
    "region": ("cntry", "région", "Bundesland", "ost_west", "_STATE"),
    "employment": ("EMPLOY1", "erwerbsstatus", "statut_professionnel", "wrkstat"),
    "household": ("hhmmb", "hh_groesse", "CHILDREN", "konfession"),
    "calendar": ("INTV_MON", "interview_date", "sample.yr", "year_dx", "date_of_diagnosis", "survey_week"),
    "survey_design": ("_LLCPWT", "pspwght", "anweight", "wghtpew", "pondération", "PERWT", "WTFA_A", "PSTRAT", "PPSU"),
    "money": ("INCOME3", "haushaltseinkommen_netto", "revenu_mensuel", "hinctnta", "reddito", "FAMINCTC_A"),
    "treatment": ("mode_of_birth", "delivery_mode", "Entbindungsmodus"),
    "finding": (
        "has_icd10cm_o82",
        "has_sct_44054006",
        "preterm_birth",
        "stillbirth",
        "GENHLTH",
        "état_santé",
        "fumeur",
        "diabète",
        "gesundheit_allgemein",
        "PHSTAT_A",
        "SLPHOURS_A",
    ),
    "opinion": ("lebenszufriedenheit", "ppltrst", "lrscale", "vote", "satisfaction_vie"),
}


@each("kind, name", [(kind, name) for kind, names in KINDS.items() for name in names])
def test_names_of_surveys_are_known(kind: str, name: str) -> None:
    found = kind_of(name)
    assert found is not None
    assert found.name == kind


@each("name", ["weight", "weight_kg", "tenure", "grade", "stage", "born_uk", "agent", "message", "average"])
def test_names_that_only_look_alike_are_not(name: str) -> None:
    found = kind_of(name)
    assert found is None or found.name not in ("age", "age_band", "birth", "survey_design", "household")


@each(
    "name",
    [
        *("birth_weight", "BirthWeight", "birth_weight_g", "birth_order", "birth_length_cm", "live_birth"),
        *("multiple_birth", "preterm_birth", "mode_of_birth", "country_of_birth", "poids de naissance"),
        *("rang_naissance", "peso_nacimiento", "peso alla nascita", "Geburtsgewicht (g)", "geboortegewicht"),
    ],
)
def test_what_else_is_said_of_a_birth_is_no_date(name: str) -> None:
    assert not is_birth(name)


@each("name", ["gestational_age_weeks", "gest_age_days", "Gestational age (weeks)"])
def test_the_age_of_a_pregnancy_is_no_age_of_a_person(name: str) -> None:
    assert kind_of(name) is None


def test_sexes_are_known_by_their_values() -> None:
    assert are_sexes(["Homme", "Femme"])
    assert are_sexes(["männlich", "weiblich", "divers"])
    assert not are_sexes(["oui", "non"])


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("idade", "Ålder", "wiek", "yaş", "hv105"), "age"),
        (("fodelsear", "födelseår", "data_de_nascimento", "rok urodzenia"), "birth"),
        (("kon", "kön", "płeć", "jenis_kelamin"), "sex"),
        (("escolaridade", "Utbildningsnivå", "v106", "nivel_de_instrucao"), "education"),
        (("lan", "uf", "wojewodztwo"), "region"),
        (("cor_raca",), "ethnicity"),
    ],
)
def test_what_others_know_is_known_in_more_languages_with_and_without_accents(names, kind):
    for name in names:
        found = kind_of(name)
        assert found is not None
        assert found.name == kind, name


def test_a_short_foreign_word_inside_another_name_says_nothing():
    assert all(kind_of(name) is None for name in ("il_6", "kor_x", "uf_total"))
