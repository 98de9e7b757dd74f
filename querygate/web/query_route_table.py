"""The routes about questions and answers, and what may be known before one asks."""

from __future__ import annotations

from querygate.core.errors import CODES
from querygate.core.rights import Right
from querygate.gate.render import FORMATS
from querygate.gate.twin import DEFAULT_ROWS, TWIN_FORMATS
from querygate.web.route import API, BEFORE, Parameter, Route

ASK: tuple[Right, ...] = ("ask",)
LOOK: tuple[Right, ...] = ("ask", "look")

DATASET_CODES = ("QG303", "QG312", "QG313", "QG804")
NOISE_CODES = ("QG310", "QG311", "QG314")
MODEL_CODES = ("QG218", "QG219")
SQL_CODES = tuple(code for code in CODES if code.startswith(("QG1", "QG2")) and code not in MODEL_CODES)

DATASET = Parameter("dataset", "path", "Name of the dataset.", {"type": "string"})
ONCE = Parameter(
    "Idempotency-Key",
    "header",
    "A new name for each question. A request sent again with the same name is the same question: it is answered from "
    "the log and costs nothing. The gate remembers names for a day.",
    {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,64}$"},
)
ANSWER_MEDIA = tuple(media for media, _ in FORMATS.values())
DEFAULT_HISTORY = 20
MOST_HTTP_ROWS = 100_000

ASK_ROUTES: tuple[Route, ...] = (
    Route(
        "ask",
        "POST",
        f"{API}/query",
        "Run one statement and get guaranteed ranges, or noisy numbers. The statement and its answer are logged. The "
        "header `Accept` chooses JSON, CSV, Arrow (stream or file) or Parquet.",
        ASK,
        gives="Answer",
        media=ANSWER_MEDIA,
        body="Question",
        parameters=(ONCE,),
        codes=(*SQL_CODES, *DATASET_CODES, "QG305", *NOISE_CODES, "QG325", "QG401", "QG501"),
        later=True,
    ),
    Route(
        "check",
        "POST",
        f"{API}/query/check",
        "Check whether a statement would be accepted. A dry run: nothing is read (unless with explain) or spent. It "
        "is logged.",
        ASK,
        gives="Verdict",
        body="Question",
        codes=(*SQL_CODES, *DATASET_CODES, *NOISE_CODES),
    ),
    Route(
        "price",
        "POST",
        f"{API}/query/price",
        "Get the total cost of several statements. A dry run, as above.",
        ASK,
        gives="Price",
        body="Batch",
        codes=(*SQL_CODES, *DATASET_CODES, *NOISE_CODES),
    ),
    Route(
        "fit_model",
        "POST",
        f"{API}/model",
        "Fit a model and get a range for each coefficient, ratio and limit. The statement it needs is run and logged "
        "as any other.",
        ASK,
        gives="Model",
        body="ModelQuestion",
        codes=(*SQL_CODES, *MODEL_CODES, *DATASET_CODES, "QG305", "QG311", "QG501"),
    ),
    Route(
        "read_budget",
        "GET",
        f"{API}/budget",
        "Get what is left for noisy answers about a dataset. Custodians also see what was spent, and by whom.",
        ASK,
        gives="Budget",
        parameters=(Parameter("dataset", "query", "Name of the dataset.", {"type": "string"}),),
        codes=(*DATASET_CODES, *NOISE_CODES),
    ),
    Route(
        "list_datasets",
        "GET",
        f"{API}/datasets",
        "List the datasets that you may query or manage.",
        LOOK,
        gives="Datasets",
    ),
    Route(
        "describe_dataset",
        "GET",
        f"{API}/datasets/{{dataset}}",
        "Get the schema, public domains and values, the policy in words, and example statements.",
        LOOK,
        gives="Dataset",
        parameters=(DATASET,),
        codes=DATASET_CODES,
    ),
    Route(
        "fetch_twin",
        "GET",
        f"{API}/datasets/{{dataset}}/twin.{{form}}",
        "Get made-up rows that look like the dataset, to write programs against. They are drawn from published data "
        "only. The request is logged.",
        ASK,
        media=tuple(media for media, _ in TWIN_FORMATS.values()),
        parameters=(
            DATASET,
            Parameter("form", "path", "CSV or Parquet.", {"enum": list(TWIN_FORMATS)}),
            Parameter(
                "rows",
                "query",
                "How many.",
                {"type": "integer", "minimum": 1, "maximum": MOST_HTTP_ROWS, "default": DEFAULT_ROWS},
            ),
            Parameter("seed", "query", "The same seed gives the same rows.", {"type": "integer", "default": 0}),
        ),
        codes=(*DATASET_CODES, "QG305"),
    ),
    Route(
        "fetch_answer",
        "GET",
        f"{API}/answers/{{query_id}}.{{form}}",
        "Get an answer again, in another format. Only the person who sent the query, custodians and auditors can "
        "fetch it.",
        ("ask", "oversee"),
        gives="Answer",
        media=ANSWER_MEDIA,
        parameters=(
            Parameter("query_id", "path", "The `query_id` of the answer.", {"type": "string"}),
            Parameter(
                "form",
                "path",
                "Tabular formats have columns name_low, name_high, name_estimate and name_may_be_null; Arrow and "
                "Parquet also name_sharp, and the answer's other details in their metadata.",
                {"enum": list(FORMATS)},
            ),
        ),
        codes=("QG304",),
    ),
    Route(
        "read_history",
        "GET",
        f"{API}/history",
        "Get your own questions and their outcomes, newest first, page by page.",
        ASK,
        gives="Log",
        parameters=(
            BEFORE,
            Parameter("dataset", "query", "Only questions about this dataset.", {"type": "string"}),
            Parameter(
                "limit",
                "query",
                "Maximum number of questions.",
                {"type": "integer", "minimum": 1, "maximum": 1000, "default": DEFAULT_HISTORY},
            ),
        ),
    ),
)
