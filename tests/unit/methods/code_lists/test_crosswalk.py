"""ICD-9-CM and ICD-10-CM as one system: codes go where the map puts them, and nothing is guessed."""

from __future__ import annotations

from collections import Counter

from querygate.methods.code_lists.code_spelling import normalise
from querygate.methods.code_lists.crosswalk import equivalents, joint_lines, nine
from querygate.methods.code_lists.diseases import gwas_diseases
from querygate.methods.code_lists.known_code_systems import JOINT, lines_of, tree_of

ELSEWHERE = {"287.30", "296.82", "493.20", "493.21", "493.22", "521.05"}
"""Codes of the diseases that the map, wholly or in part, takes for something else: J44.9 is chronic obstruction."""


def test_the_map_is_that_of_the_government() -> None:
    """Of 14,567 codes of 2014 the map gives one of the same meaning for 3,533; 425 have none."""
    kinds = Counter(one.kind for one in equivalents().values())
    assert kinds["exact"] == 3_533
    assert kinds["combination"] == 645
    assert sum(kinds.values()) == len(lines_of("icd9cm")) == 17_583
    assert equivalents()["V10.3"] == ("Z85.3", "exact")
    assert equivalents()["250.50"].node == "E11.3"  # E11.311 and E11.319
    assert equivalents()["250"].kind == "group"


def test_every_code_of_both_systems_is_there_once_and_under_a_group_of_icd10cm() -> None:
    lines, ten = joint_lines(), lines_of("icd10cm")
    assert len(lines) == len(ten) + 17_583
    assert all(lines[code] == line for code, line in ten.items())
    groups = {name for line in ten.values() for name in line.split(";")}
    assert all(set(lines[nine(code)].split(";")[1:]) <= groups for code in lines_of("icd9cm"))


def test_who_asks_for_a_group_of_icd10cm_asks_for_codes_of_icd9cm_too() -> None:
    mixed = ["250.00", "250.02", "250.01", "E11.9", "E11.65", "E10.9", "9:V10.3", "Z85.3", "250.22"]
    tree = tree_of(JOINT, mixed)
    under = {code: tree.ancestors(code) for code in mixed}
    assert {code for code in mixed if "E11" in under[code]} == {"250.00", "250.02", "E11.9", "E11.65", "250.22"}
    assert under["250.02"][0] == "E11.65"
    assert under["250.22"][0] == "E11"  # several codes together: no narrower group has them all
    assert "Z85.3" in under["9:V10.3"]


def test_diseases_are_the_same_in_both_systems() -> None:
    """What the map gives for codes of a disease in ICD-9-CM lies within its codes in ICD-10-CM."""
    codes = sorted(code for code in lines_of("icd9cm") if equivalents()[code].kind not in ("group", "none"))
    nodes = sorted({one.node for one in equivalents().values()})
    strange = set()
    for old, new in zip(gwas_diseases(codes), gwas_diseases(nodes), strict=True):
        within = {nodes[place] for place in new.codes}
        strange |= {codes[place] for place in old.codes if equivalents()[codes[place]].node not in within}
    assert strange == ELSEWHERE


def test_texts_of_either_system_are_read_and_none_is_guessed() -> None:
    texts = ["250.00", "25000", " e119", "E11.9", "V10.3", "v103", "V10.3XXA", "8.45", "E849.0", "ä", "", None]
    read = normalise(JOINT, texts)
    assert read.codes == (
        *(
            "250.00",
            "250.00",
            "E11.9",
            "E11.9",
            "9:V10.3",
            "9:V10.3",
            "V10.3XXA",
            "008.45",
            "9:E849.0",
            "Ä",
            None,
            None,
        ),
    )
    assert set(read.unknown) == {"ä"}
    assert dict(read.mended) == {"8.45": "008.45"}
    both = normalise(JOINT, ["E8020", "9:E8020", "10:E8020", "E80.20", "E802.0", "E30", "10:25000"])
    assert set(both.unknown) == {"E8020", "10:25000"}
    assert both.codes[1:6] == ("9:E802.0", "E80.20", "E80.20", "9:E802.0", "E30")
