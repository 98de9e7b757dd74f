"""Where and how things run: a declared table, read from querygate.toml, then from the environment.

The privacy of a dataset is never a setting; that is its policy.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from querygate.core.errors import ConfigError
from querygate.core.ports import Limits

FILE = "querygate.toml"
PREFIX = "QUERYGATE_"

SettingValue: TypeAlias = "bool | int | float | str"

_TRUTHS = {"true": True, "false": False}

_LOCATION = re.compile(r"\w+://(?:[^/?#@]*@)?([^/?#@:]*(?::\d+)?(?:/[^/?#@]*)?)(?:\?[^#@]*)?(?:#[^@]*)?")
"""A location of which it is certain where a password would be."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: what it is called, what it is when nobody says, what it means, and what is accepted."""

    name: str
    default: SettingValue
    help: str
    least: float | None = None
    most: float | None = None


SETTINGS: tuple[Setting, ...] = (
    Setting("host", "127.0.0.1", "Address the server listens on."),
    Setting("port", 8080, "Port the server listens on.", 1, 65535),
    Setting(
        "pg_port",
        0,
        "Port for PostgreSQL clients such as psql, R and JDBC; 0 for none.",
        0,
        65535,
    ),
    Setting("pg_host", "", "Address for that port; empty for that of HTTP."),
    Setting("pg_certificate", "", "File with the TLS certificate for that port (PEM); empty for no TLS."),
    Setting("pg_certificate_key", "", "File with the certificate's key (PEM), if it is a separate file."),
    Setting(
        "pg_allow_unencrypted",
        False,
        "Whether clients on other machines may connect to that port without TLS.",
    ),
    Setting("pg_max_connections", 600, "Connections to that port at the same time, in each process.", 4, 10_000),
    Setting("pg_connections_per_user", 50, "Connections of one user to that port, in each process.", 1, 10_000),
    Setting(
        "pg_idle_s", 28_800.0, "Seconds after which a connection to that port without a statement is closed.", 1, 10**7
    ),
    Setting(
        "store",
        "",
        "Where versions are read from: empty for the folder store/, postgresql://user@host/database, or spark:/FOLDER.",
    ),
    Setting(
        "control",
        "",
        "Where accounts, the log, jobs and budgets are kept: empty for control.db in the site's folder, or "
        "postgresql://user@host/database for several gates and workers.",
    ),
    Setting(
        "budgets",
        "",
        "Where privacy budgets are kept: empty for this site, or postgresql://user@host/database for several gates.",
    ),
    Setting(
        "metrics_port",
        0,
        "Port on which figures for Prometheus are served without a key; 0 for none. Custodians also get /metrics.",
        0,
        65535,
    ),
    Setting(
        "metrics_host", "127.0.0.1", "Address for that port. It shows usage and budgets: do not open it to the world."
    ),
    Setting(
        "otlp_endpoint",
        "",
        "Collector of OpenTelemetry to which traces of requests are sent, for example http://127.0.0.1:4318/v1/traces. "
        "Needs the extra `otel`.",
    ),
    Setting(
        "json_lines",
        False,
        "Whether the server's own output is JSON lines: one for each request, without statements.",
    ),
    Setting(
        "trusted_proxies",
        "",
        "Addresses and networks of proxies whose X-Forwarded-For is trusted, separated by commas.",
    ),
    Setting(
        "public_url",
        "",
        "Address at which browsers reach the gate, such as https://gate.example.org. With https, cookies go over TLS "
        "only. Single sign-on needs it.",
    ),
    Setting(
        "single_sign_on",
        "",
        "File, in the site's folder or with a full path, that describes single sign-on; empty for none.",
    ),
    Setting(
        "login_failures_per_minute",
        10,
        "Wrong keys a minute from one address, after which further ones are turned away unchecked.",
        1,
        100_000,
    ),
    Setting(
        "sign_ins_per_minute",
        300,
        "Sign-ins through a provider, and by programs, that may begin from one address in a minute.",
        1,
        100_000,
    ),
    Setting(
        "requests_per_minute", 1200, "Requests a minute from one user, in each process; 0 for no limit.", 0, 1_000_000
    ),
    Setting(
        "concurrent_requests", 6, "Requests from one user at the same time, in each process; 0 for no limit.", 0, 10_000
    ),
    Setting("answer_mb_per_day", 4096, "Megabytes of answers a day for one user; 0 for no limit.", 0, 100_000_000),
    Setting("answer_rows_per_day", 20_000_000, "Rows of answers a day for one user; 0 for no limit.", 0, 10**12),
    Setting("cpu_s_per_day", 14_400, "Processor seconds a day for one user; 0 for no limit.", 0, 100_000_000),
    Setting("max_connections", 512, "Connections that each process keeps open.", 16, 10_000),
    Setting(
        "request_read_s",
        10.0,
        "Seconds within which a client must send its request, or continue reading its answer.",
        0.1,
        3600,
    ),
    Setting("idle_s", 60.0, "Seconds after which a connection without a request is closed.", 0.1, 3600),
    Setting("processes", 0, "Number of processes that serve; 0 starts one per processor, up to 4.", 0, 64),
    Setting("threads", 8, "Number of requests that each process serves at the same time.", 1, 256),
    Setting(
        "answer_cache_mb",
        32,
        "Memory of each process for cached answers, in megabytes; 0 for none.",
        0,
        100_000,
    ),
    Setting("query_timeout_s", 10.0, "Seconds after which a statement is stopped.", 0.01, 3600),
    Setting("query_memory_mb", 1024, "Memory for the store's engine, in megabytes.", 64, 1_000_000),
    Setting(
        "publish_memory_mb",
        4096,
        "Memory for a publication, in megabytes; larger tables are processed in parts.",
        64,
        1_000_000,
    ),
    Setting(
        "noise_tick_ms",
        250,
        "Milliseconds. Noisy answers and their refusals are sent only at multiples of this time after the request.",
        0,
        60_000,
    ),
    Setting("max_groups", 10_000, "Maximum number of groups in one answer.", 1, 1_000_000),
    Setting("max_answer_kb", 8192, "Maximum size of one answer, in kilobytes.", 16, 1_000_000),
    Setting("max_sql_chars", 20_000, "Maximum length of a statement, in characters.", 100, 1_000_000),
    Setting("max_nesting", 30, "Maximum depth of nested parentheses in a statement.", 5, 40),
    Setting(
        "inline_audit",
        False,
        "Whether the custodian's worker checks before each range, using quasi-identifiers in the vault, if it could "
        "single people out.",
    ),
    Setting(
        "worker_threads", 4, "Number of questions the worker answers at the same time, in addition to long jobs.", 1, 64
    ),
    Setting("job_lease_s", 20.0, "Seconds after which a dead worker's job is given to another.", 1, 3600),
    Setting(
        "job_minutes",
        240,
        "Minutes after which a draft, preview, publication, extract, audit or report that runs as a job is stopped.",
        1,
        100_000,
    ),
    Setting("max_result_kb", 16_384, "Maximum size of a result from a worker elsewhere, in kilobytes.", 64, 1_000_000),
    Setting("job_days", 7, "Number of days the results of jobs are kept.", 1, 3650),
    Setting("max_body_kb", 256, "Maximum size of an HTTP request, in kilobytes.", 4, 100_000),
    Setting("extract_reviewers", 1, "How many reviewers must approve an extract request.", 1, 2),
    Setting(
        "review_audit_s",
        60,
        "Seconds for auditing a requester's earlier answers, shown to reviewers of an extract.",
        1,
        3600,
    ),
    Setting("review_audit_mb", 2048, "Memory for that audit, in megabytes.", 64, 1_000_000),
    Setting(
        "publish_sources",
        "",
        "Sources that custodians may publish in the console, as NAME=SOURCE, separated by semicolons; empty for none.",
    ),
    Setting(
        "upload_mb",
        0,
        "Largest table, in megabytes, that custodians may upload in the console for a worker on this machine to "
        "publish; 0 for none.",
        0,
        100_000,
    ),
    Setting(
        "upload_unpacked_mb",
        1_000,
        "Largest size of such a table once it is unpacked, in megabytes.",
        1,
        1_000_000,
    ),
    Setting("extract_days", 30, "Number of days a released extract can be fetched.", 1, 3650),
    Setting(
        "encryption_key",
        "",
        "Where the key for encrypting released extracts is: file:PATH, env:NAME or command:PROGRAM.",
    ),
    Setting(
        "webhook_secret",
        "",
        "Where the secret for signing webhook messages is: file:PATH, env:NAME or command:PROGRAM; empty "
        "for no signature.",
    ),
    Setting(
        "require_encrypted_disk",
        False,
        "Whether `querygate doctor` fails if the control database or the vault is on a disk that is not known to be "
        "encrypted.",
    ),
    Setting("extract_webhook", "", "Webhook (http or https) that is notified of extract requests, without data."),
    Setting("extract_mail_command", "", "Command that receives an e-mail message about each extract request."),
    Setting(
        "anchor_minutes",
        15,
        "Minutes between marks of the log's end, kept outside the database; 0 for only after each spend.",
        0,
        10_080,
    ),
    Setting("anchor_file", "", "File, best on another machine's disk, to which each mark is added as a line."),
    Setting("anchor_webhook", "", "Webhook (http or https) that receives each mark."),
    Setting("anchor_mail_command", "", "Command that receives each mark as an e-mail message."),
    Setting(
        "log_rotate_days", 0, "Days after which entries of the log are moved into archives; 0 for never.", 0, 36_500
    ),
    Setting("log_discard_days", 0, "Days after which archives of the log are deleted; 0 for never.", 0, 36_500),
    Setting(
        "siem",
        "",
        "Where entries of the log are sent: syslog+tcp://host:port, syslog+udp://host:port, syslog+tls://host:port, "
        "or an http or https address.",
    ),
    Setting("siem_literals", False, "Whether statements sent there include their values."),
    Setting(
        "tour", False, "Whether the console offers the guided tour of the demo study. `querygate demo` turns it on."
    ),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Values by name, and where each came from."""

    values: Mapping[str, SettingValue]
    origin: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:  # of the type of the setting's default
        return self.values[name]

    def shown(self, name: str) -> SettingValue:
        """The value as it may be seen: of a location, the server and the database, and never who enters or how.

        >>> Settings({"store": "postgresql://gate:secret@db.example.org/study?sslmode=require"}).shown("store")
        'postgresql://db.example.org/study'
        >>> Settings({"extract_webhook": "https://hooks.example.org/T0/secret"}).shown("extract_webhook")
        'https://hooks.example.org/...'
        """
        value = self.values[name]
        if not isinstance(value, str) or not value:
            return value
        if name == "siem" or name.endswith("_webhook"):  # its path is often a secret
            return re.sub(r"([\w+]+://)(?:[^/?#]*@)?([^/?#@]*).*", r"\1\2/...", value) if "://" in value else "..."
        if name == "publish_sources":  # each may have a password
            return "; ".join(f"{part.partition('=')[0].strip()}=..." for part in value.split(";") if part.strip())
        if name not in ("store", "control", "budgets"):
            return value
        if value.startswith("spark:"):
            return value
        found = _LOCATION.fullmatch(value)
        return f"postgresql://{found[1]}" if found else "postgresql://..."

    @property
    def limits(self) -> Limits:
        return Limits(
            timeout_s=self["query_timeout_s"],
            memory_mb=self["query_memory_mb"],
            max_groups=self["max_groups"],
            max_sql_chars=self["max_sql_chars"],
            max_nesting=self["max_nesting"],
            max_answer_bytes=self["max_answer_kb"] * 1024,
        )


def load_settings(folder: Path, environment: Mapping[str, str] | None = None) -> Settings:
    """Settings of a site: defaults, then the file, then QUERYGATE_NAME from the environment."""
    environment = os.environ if environment is None else environment
    path = folder / FILE
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (ValueError, RecursionError):  # not TOML, not UTF-8, a number or a list too long to read
        raise ConfigError(
            "QG805", f"{path.name} is not valid TOML.", "Correct it: one `name = value` per line."
        ) from None
    known = {setting.name: setting for setting in SETTINGS}
    unknown = sorted(set(written) - set(known))
    if unknown:
        raise ConfigError(
            "QG805", f"{path.name}: unknown settings {', '.join(unknown)}.", f"Accepted: {', '.join(known)}."
        )
    values: dict[str, SettingValue] = {}
    origin: dict[str, str] = {}
    for name, setting in known.items():
        from_environment = environment.get(PREFIX + name.upper())
        if from_environment is not None:
            values[name], origin[name] = _checked(setting, from_environment, PREFIX + name.upper()), "environment"
        elif name in written:
            values[name], origin[name] = _checked(setting, written[name], path.name), "file"
        else:
            values[name], origin[name] = setting.default, "default"
    return Settings(values, origin)


_WORDS: dict[type, str] = {int: "a whole number", float: "a number", str: "a text"}


def _checked(setting: Setting, value: SettingValue, where: str) -> SettingValue:
    """The value as its setting wants it. A file may have anything there, a list too."""
    kind = type(setting.default)
    try:
        if kind is bool:
            return _TRUTHS[str(value).lower()]
        if isinstance(value, bool) or (kind is str and not isinstance(value, str)):
            raise ValueError
        checked: SettingValue = kind(value)
        inside = setting.least is None or setting.most is None or setting.least <= float(checked) <= setting.most
        if not inside or (kind is int and float(value) != checked):  # NaN is inside of nothing
            raise ValueError
    except (ValueError, TypeError, OverflowError, KeyError):
        accepted = (
            "true or false"
            if kind is bool
            else _WORDS[kind]
            if setting.least is None
            else f"{_WORDS[kind]} from {setting.least:g} to {setting.most:g}"
        )
        raise ConfigError("QG805", f"{where}: {setting.name} is not accepted.", f"Accepted: {accepted}.") from None
    return checked
