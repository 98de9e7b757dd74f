"""Make the word lists of querygate/methods/notes/data: PEOPLE.parquet ZIPS.csv.gz COUNTIES.csv ICD.xml.gz ICD9.csv.

Needs duckdb. The words of ordinary English come from the prose of Python packages at hand (README.md names them): what
is written in small letters in several files is taken for a word and not for a name.
"""

from __future__ import annotations

import ast
import csv
import gzip
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb

DATA = Path(__file__).parents[2] / "querygate" / "methods" / "notes" / "data"


def listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


PROSE = listed("numpy scipy sklearn pandas statsmodels matplotlib lifelines hypothesis click flask")
FILES_FOR_A_WORD = 3
NAMES_THAT_ARE_WORDS = listed(
    "al alba amber angel art baby basil beck bill blanche brook cannon carter chance charity chase clay cliff "
    "cooper crystal cutter daisy dale dash dawn dean derrick diamond don drew duke earl easton ever faith "
    "forest frank gene ginger glen golden grace grant grey guy haven heath heather holly hope hunter iris ivy "
    "jack jade jean jewel joy justice kelvin king lane legend lily major mark mason max may merry miles my nan "
    "norm ocean olive parker patsy pearl penny prince ray rich river robin roman rose ruby rusty sage sandy "
    "scarlet skip star summer sue ty unique van violet wade will winter"
)
NAMES_NOT_WORDS = listed(
    "adams anderson bartlett beck blackman dubois fordyce gumbel hess hilbert hoffmann huber kaiser kane "
    "kendall kennedy kern lang legendre leslie levine levy lloyd lucas mielke newton pearson robertson rosen "
    "rossi saunders silverman simpson stokes tran weiss welch xu york gu li lu lin ma"
)
_WORD = re.compile(r"(?<![\w.`'/-])[a-z]{2,}(?:'[a-z]+)?(?![\w`'/=(]|\.\w)")
_EPONYM = re.compile(r"(?<=[a-z,] )[A-Z][a-zé]{2,}(?:-[A-Z][a-zé]+)*")


def docstrings(folder: Path) -> Iterator[str]:
    """All docstrings of each file in the folder, as one text per file."""
    for path in folder.rglob("*.py"):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
        yield "\n".join(ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds))


def prose_words() -> set[str]:
    paths = sysconfig.get_paths()
    folders = [Path(paths["stdlib"]), *(Path(paths["purelib"]) / name for name in PROSE)]
    seen: Counter[str] = Counter()
    for folder in folders:
        for text in docstrings(folder):
            seen.update({word.partition("'")[0] for word in _WORD.findall(text)})
    return {word for word, files in seen.items() if files >= FILES_FOR_A_WORD}


def medical_words(phrases: Iterable[str]) -> tuple[set[str], set[str]]:
    """Words of the names of diseases, and the people those are named after."""
    words: set[str] = set()
    eponyms: set[str] = set()
    for phrase in phrases:
        words.update(re.findall(r"\b[a-z]{2,}\b", phrase))
        words.update(first.lower() for first in re.findall(r"^[A-Z][a-z]+\b(?!')", phrase))
        eponyms.update(part.lower() for found in _EPONYM.findall(phrase) for part in found.split("-"))
    return words, eponyms - words


def icd_phrases(tabular: Path, icd9: Path) -> Iterator[str]:
    text = gzip.decompress(tabular.read_bytes()).decode("utf-8")
    yield from re.findall(r"<(?:desc|note)>([^<]+)</", text)
    with icd9.open(encoding="utf-8", newline="") as lines:
        for row in csv.reader(lines):
            yield from row


def column(source: str, name: str) -> set[str]:
    rows = duckdb.execute(f"SELECT DISTINCT \"{name}\" FROM '{source}'").fetchall()  # noqa: S608
    return {value.strip().lower() for (value,) in rows if value and len(value.strip()) > 1}


def names_by_sex(source: str) -> dict[str, set[str]]:
    """First names that nine in ten of those who have them are women, or men; the others are of both."""
    shares = duckdb.execute(
        f"SELECT trim(lower(first_name)) AS name, avg((sex = 'Female')::INT) FROM '{source}' "  # noqa: S608
        "WHERE length(trim(first_name)) > 1 GROUP BY name"
    ).fetchall()
    return {
        "women": {name for name, share in shares if share >= 0.9},
        "men": {name for name, share in shares if share <= 0.1},
    }


def counties(source: str) -> set[str]:
    endings = r" (county|parish|borough|census area|municipio|municipality|city and borough|city)$"
    return {re.sub(endings, "", name.partition(",")[0]) for name in column(source, "county_name")}


def time_zone_tables() -> tuple[set[str], set[str]]:
    """Countries, and the cities that time zones are called after, from the tables of the tz database."""
    folder = Path(sysconfig.get_paths()["purelib"]) / "tzdata" / "zoneinfo"
    lines = (folder / "iso3166.tab").read_text(encoding="utf-8").splitlines()
    names = [line.partition("\t")[2].lower() for line in lines if not line.startswith("#")]
    zones = [line.split("\t")[2] for line in (folder / "zone.tab").read_text("utf-8").splitlines() if line[0] != "#"]
    cities = {zone.rpartition("/")[2].replace("_", " ").lower() for zone in zones}
    return {re.sub(r" \(.*", "", name) for name in names}, cities


def write(name: str, words: Iterable[str]) -> None:
    text = "\n".join(sorted(words)) + "\n"
    (DATA / f"{name}.txt.gz").write_bytes(gzip.compress(text.encode("utf-8"), 9, mtime=0))
    print(name, text.count("\n"))


def main(people: str, zips: str, county_table: str, tabular: str, icd9: str) -> None:
    first, last = column(people, "first_name"), column(people, "last_name")
    medical, eponyms = medical_words(icd_phrases(Path(tabular), Path(icd9)))
    write("first_names", first)
    write("last_names", last)
    for sex, names in names_by_sex(people).items():
        write(f"first_names_{sex}", names)
    write("cities", column(zips, "city") | counties(county_table))
    countries, world = time_zone_tables()
    nations = set(re.split(r"[;\n]", (DATA / "nations.txt").read_text(encoding="utf-8").strip()))
    write("countries", countries | nations)
    write("world_cities", world - countries)
    names = (first - set(NAMES_THAT_ARE_WORDS)) | set(NAMES_NOT_WORDS)
    everyday = set((DATA / "everyday.txt").read_text(encoding="utf-8").split())
    write("words", (prose_words() - names) | (medical - names) | everyday)
    write("medical_names", eponyms - first - last)


if __name__ == "__main__":
    main(*sys.argv[1:])
