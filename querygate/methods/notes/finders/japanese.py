"""Japanese notes: labels, honorifics and the shapes of addresses. There is no dictionary of Japanese names here.

A name is found behind a label (氏名：), before an honorific (様, 氏, 先生) or after a title (Dr.); anywhere else only
if it stands in an identifier column. Dates, telephone numbers and codes have finders of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from querygate.methods.notes.finders.pattern import spans_of
from querygate.methods.notes.note_text import listed
from querygate.methods.notes.spans import IdentifierKind, TextSpan

_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_PERSON = (
    r"(?:[\u4e00-\u9fff々〆ヶ]{1,4}[ ]?[\u3040-\u30ff\u4e00-\u9fff々ー]{1,6}|[\u30a0-\u30ff]{2,8}[・ "
    r"]?[\u30a0-\u30ff]{0,10})"
)
_LABEL = (
    r"(?:患者)?氏名|患者名|名前|お名前|本名|姓名|緊急連絡先(?:氏名)?|家族(?:氏名)?|配偶者|"
    r"担当医|主治医|依頼医|検査依頼医|紹介医|読影医|読影者|承認医|"
    r"検査(?:技師|者|担当者?)|撮影(?:技師|者)|放射線技師|診断医|報告医|報告者|記載者|"
    r"執刀医|術者|看護師|技師|指導医|監督医|確認者|二次読影医?|"
    r"最終確認(?:医|者)|臨床検査技師|診療放射線技師|作成者|署名"
)
_LABELLED = re.compile(
    rf"(?:{_LABEL})(?:医師)?[ ]?(?:[:=][ ]?|[ ])(?:(?:臨床検査|診療放射線|放射線)?技師[ ]?|"
    rf"医師[ ]?)?(?P<name>(?:Dr\.? ?)?{_PERSON})"
)
_DOCTOR = re.compile(
    r"(?:担当医|主治医|執刀医|依頼医)の(?P<name>[\u4e00-\u9fff々]{1,3})(?=[^\u4e00-\u9fff々]|医師|先生)"
)
_TITLED = re.compile(rf"(?P<name>Dr\.? ?{_PERSON})")
_HONORED = re.compile(
    r"(?P<name>[\u4e00-\u9fff々]{2,6}[ ]?[\u4e00-\u9fff々]{0,3})(?= ?(?:様|氏(?!名)|"
    r"さん|殿|先生|医師(?!会)|技師(?!長)|看護師))"
)
_KANA = re.compile(
    r"(?<=[\u4e00-\u9fff])\((?P<name>[\u3040-\u309f]{4,12}|[\u30a0-\u30ff]{4,12}|[\u3040-\u30ff]{2,8}[ "
    r"][\u3040-\u30ff]{2,8})\)"
)
_KANA_LABELLED = re.compile(
    r"(?:フリガナ|ふりがな|カナ|かな)[):]{1,2} ?(?P<name>[\u3040-\u30ff]{2,10}[ ・]?[\u3040-\u30ff]{0,10})"
)
_WHOLE = re.compile(
    r"(?:〒 ?\d{3}-?\d{4} ?)?(?:東京都|北海道|(?:京都|大阪)府|[\u4e00-\u9fff]{2,3}県)[\u3040-\u30ff\u4e00-\u9fff"
    r"々ヶ]{1,20}(?:[市区町村郡][\u3040-\u30ff\u4e00-\u9fff々ヶ]{0,20}){0,3}(?:\d{1,4}(?:(?:-|"
    r"丁目|番地?|号|の)\d{0,4}){0,5}(?:号室?)?)?(?: ?[A-Za-z\u3040-\u30ff\u4e00-\u9fffー・]{2,25} ?[A-Z]?\d{1,5}"
    r"(?:-\d{1,4})?(?:号室?|階|F)?)?"
)
_TOWN = re.compile(r"[\u4e00-\u9fff]{1,4}市(?:[\u4e00-\u9fff]{1,4}区)?")
_QUOTED = re.compile(
    r"「(?P<name>[^」\n]{1,20}(?:内科|外科|科|クリニック|医院|病院|苑|園|荘|の家|ホーム|薬局|センター))」"
)
_AGE = re.compile(r"(?<![\d.])(?P<age>9\d|1[0-2]\d) ?[歳才]")
_POSTCODE = re.compile(r"〒 ?\d{3}-?\d{4}")
_FACILITY = re.compile(
    r"(?P<name>[A-Z\u30a0-\u30ff\u4e00-\u9fff々ーの]{2,25}(?:病院|医院|クリニック|診療所|"
    r"センター|大学|療養所|研究所|保健所))"
)
_GENERIC = re.compile(r"(?:当|本|他|前|近|同|貴|総合|救急|紹介元|専門|地域|大学)+(?:病院|医院|センター|大学)")
_NO_PERSON = frozenset(
    listed(
        "放射線科 消化器内科 呼吸器内科 循環器内科 専門医 指導医 男性 女性 患者 担当 検査 臨床検査 放射線 "
        "診療放射線 空間的多 時間的多 妻 夫 長男 長女 次男 次女"
    )
)


def find_japanese(text: str) -> Iterator[TextSpan]:
    if not _JAPANESE.search(text):
        return
    for pattern, rule in (
        (_LABELLED, "label and name"),
        (_DOCTOR, "title and name"),
        (_TITLED, "title and name"),
        (_HONORED, "name and honorific"),
        (_KANA, "reading"),
        (_KANA_LABELLED, "reading"),
    ):
        for match in pattern.finditer(text):
            if match["name"] not in _NO_PERSON:
                yield TextSpan(match.start("name"), match.end("name"), IdentifierKind.NAME, f"japanese {rule}")
    yield from spans_of(_AGE, text, IdentifierKind.AGE, "age over 89", "age")
    yield from spans_of(_TOWN, text, IdentifierKind.PLACE, "japanese town")
    yield from spans_of(_QUOTED, text, IdentifierKind.PLACE, "japanese facility", "name")
    yield from spans_of(_WHOLE, text, IdentifierKind.PLACE, "japanese address")
    yield from spans_of(_POSTCODE, text, IdentifierKind.PLACE, "japanese postcode")
    for match in _FACILITY.finditer(text):
        if not _GENERIC.fullmatch(match["name"]):
            yield TextSpan(match.start("name"), match.end("name"), IdentifierKind.PLACE, "japanese facility")
