"""Every route of the HTTP door, in one table: the application, OpenAPI and the reference are made from it."""

from __future__ import annotations

from querygate.core.extracts.approval_states import STATES
from querygate.core.rights import Right
from querygate.site.extract_requests.extracts import ACTS
from querygate.web.accounts.account_route_table import ACCOUNT_ROUTES
from querygate.web.query_route_table import ASK, ASK_ROUTES, DATASET, DATASET_CODES
from querygate.web.route import ANYONE, API, BEFORE, HTML, JSON, TRUTH, Parameter, Route
from querygate.web.saved.saved_route_table import SAVED_ROUTES

__all__ = ["API", "EXTRACTS", "JSON", "ROUTES", "Parameter", "Route"]

EXTRACTS: tuple[Right, ...] = ("ask", "review", "build")
JOBS: tuple[Right, ...] = ("ask", "review", "build", "audit")
WORK: tuple[Right, ...] = ("work",)

REQUEST = Parameter("request_id", "path", "The `id` of the request.", {"type": "string"})
JOB = Parameter("job_id", "path", "The `job` of a 202 response.", {"type": "string"})
WORKING = Parameter("job_id", "path", "The id of the job.", {"type": "string"})

WORK_ROUTES: tuple[Route, ...] = (
    Route(
        "lease_job",
        "POST",
        f"{API}/work/lease",
        "For a worker elsewhere: take up the oldest job of these kinds, or get null.",
        WORK,
        gives="WorkerJob",
        body="Lease",
        codes=("QG310",),
    ),
    Route(
        "renew_job",
        "POST",
        f"{API}/work/jobs/{{job_id}}/progress",
        "For a worker elsewhere: keep a job for longer and report progress. Null if it is no longer the worker's.",
        WORK,
        gives="WorkerJob",
        body="WorkerProgress",
        parameters=(WORKING,),
        codes=("QG310",),
    ),
    Route(
        "return_job",
        "POST",
        f"{API}/work/jobs/{{job_id}}/return",
        "For a worker elsewhere: give a job back, for another worker.",
        WORK,
        gives="Taken",
        body="WorkerName",
        parameters=(WORKING,),
        codes=("QG310",),
    ),
    Route(
        "finish_job",
        "POST",
        f"{API}/work/jobs/{{job_id}}/finish",
        "For a worker elsewhere: hand in a result, or the problem that prevented one.",
        WORK,
        gives="Taken",
        body="WorkerResult",
        parameters=(WORKING,),
        codes=("QG310",),
    ),
    Route(
        "read_log_entries",
        "GET",
        f"{API}/work/log",
        "For a worker elsewhere: the chained log, which audits read, page by page.",
        WORK,
        gives="LogPage",
        parameters=(Parameter("after", "query", "Only entries after this number.", {"type": "integer", "default": 0}),),
    ),
)

ROUTES: tuple[Route, ...] = (
    *ASK_ROUTES,
    Route(
        "read_log",
        "GET",
        f"{API}/log",
        "Get the query log, oldest first; if it is long, only the latest entries; `before` gives those before.",
        ("oversee",),
        gives="Log",
        parameters=(
            Parameter(
                "since", "query", "A date or time (ISO 8601, in UTC unless it names another zone).", {"type": "string"}
            ),
            BEFORE,
            Parameter("user", "query", "Only queries by this user.", {"type": "string"}),
            Parameter("dataset", "query", "Only queries to this dataset.", {"type": "string"}),
            Parameter(
                "limit",
                "query",
                "Maximum number of entries.",
                {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
            ),
        ),
    ),
    Route(
        "read_findings",
        "GET",
        f"{API}/audit/findings",
        "Get what the last audit of a dataset found, in cases, without values. Reading it is logged.",
        ("oversee",),
        gives="Findings",
        parameters=(
            Parameter("dataset", "query", "Dataset whose findings to read.", {"type": "string"}),
            Parameter(
                "reveal",
                "query",
                "true asks for values. The gate has none, and the attempt is logged.",
                {"enum": ["true", "false"], "default": "false"},
            ),
        ),
        codes=(*DATASET_CODES, "QG309"),
    ),
    Route(
        "read_risk",
        "GET",
        f"{API}/datasets/{{dataset}}/risk",
        "Get the risk report on the served version, as measured by `querygate risk`. Reading it is logged.",
        ("oversee",),
        gives="RiskReport",
        parameters=(DATASET,),
        codes=(*DATASET_CODES, "QG309"),
    ),
    Route(
        "read_risk_report",
        "GET",
        f"{API}/datasets/{{dataset}}/risk/report.html",
        "The same as a page with charts, for download.",
        ("oversee",),
        media=(HTML,),
        parameters=(DATASET,),
        codes=(*DATASET_CODES, "QG309"),
    ),
    Route(
        "run_audit",
        "POST",
        f"{API}/audit/run",
        "Have the queries to a dataset audited. The findings can be read once the job is done. A gate without a worker "
        "refuses it.",
        ("audit",),
        gives="Findings",
        body="AuditRun",
        codes=(*DATASET_CODES, "QG309"),
        later=True,
    ),
    Route(
        "list_exports",
        "GET",
        f"{API}/exports",
        "List extract requests, newest first. Custodians see all requests, others their own.",
        EXTRACTS,
        gives="Exports",
        parameters=(
            Parameter("state", "query", "Only requests in this state.", {"enum": list(STATES)}),
            Parameter("mine", "query", "true: only your own requests.", TRUTH),
        ),
        codes=("QG604",),
    ),
    Route(
        "request_export",
        "POST",
        f"{API}/exports",
        "Create an extract request, as a draft. Submit it next.",
        ASK,
        gives="Export",
        body="Wish",
        codes=(*DATASET_CODES, "QG604"),
    ),
    Route(
        "show_export",
        "GET",
        f"{API}/exports/{{request_id}}",
        "Get one request: what is requested, its state, and its history.",
        EXTRACTS,
        gives="Export",
        parameters=(
            REQUEST,
            Parameter("preview", "query", "true: include the figures for reviewers, which take time.", TRUTH),
        ),
        codes=("QG310", "QG312", "QG602", "QG603", "QG605"),
        later=True,
    ),
    Route(
        "edit_export",
        "PUT",
        f"{API}/exports/{{request_id}}",
        "Change a draft or a returned request: the new request replaces the old one.",
        ASK,
        gives="Export",
        body="Wish",
        parameters=(REQUEST,),
        codes=(*DATASET_CODES, "QG601", "QG602", "QG603", "QG604"),
    ),
    Route(
        "act_on_export",
        "POST",
        f"{API}/exports/{{request_id}}/{{action}}",
        "Act on a request. A build is a job. Build and release need a worker with access to the vault, and are "
        "refused without one.",
        EXTRACTS,
        gives="Export",
        body="Comment",
        parameters=(REQUEST, Parameter("action", "path", "The action.", {"enum": list(ACTS)})),
        codes=("QG309", "QG310", "QG312", "QG601", "QG602", "QG603", "QG604", "QG605", "QG607", "QG608", "QG609"),
        later=True,
    ),
    Route(
        "fetch_export",
        "GET",
        f"{API}/exports/{{request_id}}/extract.zip",
        "Download a released extract. It is verified, and the download is logged, before it is sent.",
        EXTRACTS,
        media=("application/zip",),
        parameters=(REQUEST,),
        codes=("QG601", "QG602", "QG603", "QG606", "QG607"),
    ),
    Route(
        "read_export_report",
        "GET",
        f"{API}/exports/{{request_id}}/report.html",
        "Get the report of an extract. Reviewers see it once it is built, the requester once it is released.",
        EXTRACTS,
        media=(HTML,),
        parameters=(REQUEST,),
        codes=("QG307", "QG310", "QG601", "QG602", "QG603", "QG606", "QG607"),
        later=True,
    ),
    Route(
        "read_export_risk",
        "GET",
        f"{API}/exports/{{request_id}}/risk",
        "Get the risk report of a request, for reviewers: its records raw, under Safe Harbor, and as they would be "
        "released. Before the extract is built, this needs the vault.",
        EXTRACTS,
        gives="RiskReport",
        parameters=(REQUEST,),
        codes=("QG307", "QG310", "QG312", "QG602", "QG603", "QG605"),
        later=True,
    ),
    Route(
        "read_export_risk_report",
        "GET",
        f"{API}/exports/{{request_id}}/risk/report.html",
        "The same as a page with charts, for download. It is drawn on the machine with the vault.",
        EXTRACTS,
        media=(HTML,),
        parameters=(REQUEST,),
        codes=("QG307", "QG310", "QG312", "QG602", "QG603", "QG605"),
        later=True,
    ),
    Route(
        "read_job",
        "GET",
        f"{API}/jobs/{{job_id}}",
        "Get how a job stands, and its result once it is done. Only the person who asked can see it; a trial build "
        "can be seen by everyone who reviews the request.",
        JOBS,
        gives="Job",
        parameters=(JOB,),
        codes=("QG316",),
    ),
    Route(
        "follow_job",
        "GET",
        f"{API}/jobs/{{job_id}}/events",
        "Follow a job as server-sent events: `job` with the same body, whenever it has changed. Ends with the job, or "
        "after 25 seconds.",
        JOBS,
        media=("text/event-stream",),
        parameters=(JOB,),
        codes=("QG316",),
    ),
    Route(
        "cancel_job",
        "DELETE",
        f"{API}/jobs/{{job_id}}",
        "Cancel a job: at once if nobody works on it yet, otherwise at its next step. What was spent stays spent.",
        JOBS,
        gives="Job",
        parameters=(JOB,),
        codes=("QG316",),
    ),
    *SAVED_ROUTES,
    *ACCOUNT_ROUTES,
    *WORK_ROUTES,
    Route("healthz", "GET", "/healthz", "The process is running.", ANYONE, gives="Status"),
    Route(
        "readyz",
        "GET",
        "/readyz",
        "The store is readable and the control database is writable; 503 if not.",
        ANYONE,
        gives="Ready",
        codes=("QG804",),
    ),
    Route(
        "metrics",
        "GET",
        "/metrics",
        "Figures for Prometheus: times by step, refusals by code, queue, budgets, audits, sizes.",
        ("oversee", "operate"),
        media=("text/plain",),
        codes=("QG804",),
    ),
    Route("openapi", "GET", "/openapi.json", "This interface as OpenAPI 3.1.", ANYONE),
)
