"""What a worker does for the console's pages about publishing: draft, check, preview, publish, serve, withdraw.

Only for a gate on this machine, and only from sources that the settings allow: they are looked up again here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.jobs import Job, JobKind
from querygate.core.json_body import to_json
from querygate.core.progress import Progress
from querygate.custody.policy.console_policy import problems_of, read_console_policy
from querygate.custody.worker.worker import Handler
from querygate.site.open_gate import OpenSite
from querygate.site.publication_sources import REMOVED, configured_sources, dropped_file, is_upload

PUBLISHING: tuple[JobKind, ...] = tuple(kind for kind in get_args(JobKind) if kind.startswith("publish."))


def refuse_publication(job: Job, progress: Progress) -> Mapping[str, Any]:
    raise NotPermitted(
        "QG309",
        "A gate on another machine does not publish.",
        "Run `querygate publish` on the custodian's machine, and `querygate sync`.",
    )


def check_unpacked(path: Path, most_mb: int) -> None:
    """QG802 for an uploaded table that would block the worker for long, or fill its disk."""
    from querygate_adapters.sources.unpacked_size import is_larger

    if is_larger(path, most_mb * 1_000_000):
        raise ConfigError(
            "QG802",
            f"The uploaded table is larger than {most_mb:,} MB once it is unpacked.",
            "Upload fewer rows or columns, publish it with `querygate publish`, or have the setting "
            "`upload_unpacked_mb` raised.",
        )


class PublishHandlers:
    """The handlers of one site. The custody code they need is imported with the first job."""

    def __init__(self, opened: OpenSite) -> None:
        self._opened = opened

    def table(self) -> Mapping[JobKind, Handler]:
        return {
            "publish.check": self.check,
            "publish.draft": self.draft,
            "publish.preview": self.preview,
            "publish.version": self.publish,
            "publish.serve": self.serve,
            "publish.withdraw": self.withdraw,
            "publish.map": self.draw_map,
            "publish.what_if": self.ask_what_if,
        }

    def check(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        """The mistakes in a policy, line by line; only its text is read."""
        text = str(job.body["policy"])
        try:
            found = read_console_policy(text).policy
        except ConfigError as error:
            problems = [to_json(one) for one in problems_of(text, error)]
            return {"valid": False, "problems": problems, "remedy": error.remedy}
        return {"valid": True, "dataset": found.dataset, "k": found.k, "warnings": list(found.warnings)}

    def draft(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        from querygate.custody.use_cases.policy_draft import tried_draft
        from querygate_adapters.sources.open_source import open_source

        drafted = tried_draft(open_source(self._source(job)), str(job.body["title"]), progress)
        columns = [{"name": p.name, "role": p.role, "type": p.type, "found": p.warning} for p in drafted.columns]
        body = {"source": job.body["source"], "rows": drafted.rows}
        self._opened.log.note("publish.draft", user=job.user, body=body)
        return {"policy": drafted.text, "rows": drafted.rows, "columns": columns}

    def preview(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        """How many usual figures could be printed under the policy as it is, and what it would answer."""
        from querygate.custody.use_cases.policy_preview import begin_preview
        from querygate.custody.use_cases.predicted_answers import predict, split_statements

        file = read_console_policy(str(job.body["policy"]))
        measured = begin_preview(file, self._source(job), progress=progress)
        own = measured.of_policy(progress)
        body = {"source": job.body["source"], "policy_hash": file.policy.hash}
        self._opened.log.note("publish.preview", user=job.user, dataset=file.policy.dataset, body=body)
        statements = split_statements(str(job.body.get("questions", "")))
        predicted = predict(file, self._source(job), statements, self._opened.gate, progress)
        return {
            "own": to_json(own),
            "records": measured.sample.records,
            "used": measured.sample.used,
            "predicted": to_json(predicted),
        }

    def publish(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        """Publish once, however often the job is tried: a version logged with this job is its result."""
        from querygate.custody.use_cases.publish_with_report import publish_with_report

        file = read_console_policy(str(job.body["policy"]))
        dataset = file.policy.dataset
        done = next((e for e in self._opened.log.events_of("publish", dataset) if e["body"].get("job") == job.id), None)
        if done is not None:
            return self._published(job, dataset, done["body"])
        report = publish_with_report(
            self._opened,
            file.policy,
            self._source(job),
            user=job.user,
            kind="json",
            base_dir=file.folder,
            progress=progress,
            reinstate=bool(job.body.get("reinstate")),
            tables=file.raw,
            noted={"job": job.id, "source": str(job.body["source"])},
        ).published
        told = {"version": report.version, "rows": report.rows, "k": report.measured.k}
        return {**self._published(job, dataset, told), "warnings": list(report.warnings)}

    def _published(self, job: Job, dataset: str, told: Mapping[str, Any]) -> dict[str, Any]:
        """Remove an uploaded table, whose rows are now in the vault."""
        self._remove(str(job.body["source"]), job.user)
        return {"dataset": dataset, **{name: told[name] for name in ("version", "rows", "k")}}

    def serve(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        from querygate.custody.use_cases.publish_version import serve_version

        version = int(job.body["version"])
        before = serve_version(self._opened, job.dataset, version, user=job.user, reinstate=True)
        return {"dataset": job.dataset, "version": version, "before": before}

    def withdraw(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        from querygate.custody.use_cases.withdraw_dataset import withdraw_dataset

        found = withdraw_dataset(self._opened, job.dataset, user=job.user)
        return {"dataset": job.dataset, "version": found.version, "extracts": list(found.extracts)}

    def draw_map(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        """Risk against utility, for existing versions and for other k."""
        from querygate.custody.use_cases.risk_map import measure_risk_map

        found = measure_risk_map(self._opened, job.dataset, progress)
        self._opened.log.note("publish.map", user=job.user, dataset=job.dataset)
        return {"map": to_json(found)}

    def ask_what_if(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        """How the questions of the log would be answered under another version, or under a policy."""
        from querygate.custody.use_cases.log_rerun import rerun_log, version_again
        from querygate.custody.use_cases.policy_preview import policy_on_trial

        days, dataset = int(job.body["days"]), job.dataset
        noted: dict[str, Any] = {"days": days}
        if "policy" in job.body:
            file = read_console_policy(str(job.body["policy"]))
            dataset, noted["policy_hash"] = file.policy.dataset, file.policy.hash
            with policy_on_trial(file, self._source(job), progress) as (release, is_sample):
                found = rerun_log(self._opened, dataset, release, days, is_sample=is_sample, progress=progress)
        else:
            noted["version"] = int(job.body["version"])
            with version_again(self._opened, dataset, noted["version"]) as release:
                found = rerun_log(self._opened, dataset, release, days, progress=progress)
        self._opened.log.note("publish.what_if", user=job.user, dataset=dataset, body=noted)
        return {"what_if": to_json(found)}

    def _source(self, job: Job) -> str:
        """The location of a job's source, if it may be published here."""
        name, settings = str(job.body["source"]), self._opened.site.settings
        if is_upload(name) and settings["upload_mb"]:
            path = dropped_file(self._opened.site, name)
            if path.is_file() and not path.is_symlink():
                check_unpacked(path, settings["upload_unpacked_mb"])
                return str(path)
        found = configured_sources(settings["publish_sources"]).get(name)
        if found is None:
            raise ConfigError(
                "QG802", "There is no such source, or no longer.", "Choose one of the list, or upload it."
            )
        return found

    def _remove(self, name: str, user: str) -> None:
        if is_upload(name) and (path := dropped_file(self._opened.site, name)).exists():
            path.unlink()
            self._opened.log.note(REMOVED, user=user, body={"id": name})
