"""What pages are made from, made once in a process and kept for all of its applications: the code of the templates, and
the documentation. A server fills the stock before it forks, so that nobody's first view of a page waits for it."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Final, TypeVar

from flask import Flask
from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket

from querygate.core.answer_forms.plain_text import key_text
from querygate.web.manual import MANUAL
from querygate.web.route_reference import mark_code

F = TypeVar("F", bound=Callable[..., object])


class TemplateCode(BytecodeCache):
    """Templates as they were compiled, until their text changes."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, CodeType]] = {}

    def get_bucket(self, environment: Environment, name: str, filename: str | None, source: str) -> Bucket:
        """Code that escapes what it shows is never given where it must not be, nor the other way round."""
        bucket = super().get_bucket(environment, name, filename, source)
        escapes = environment.autoescape
        bucket.key += f" {escapes(name) if callable(escapes) else escapes}"
        self.load_bytecode(bucket)
        return bucket

    def load_bytecode(self, bucket: Bucket) -> None:
        checksum, code = self._kept.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._kept[bucket.key] = bucket.checksum, bucket.code


CODE: Final = TemplateCode()


class PageApp(Flask):
    """An application whose templates are compiled once in a process. None of its views is asynchronous, and Flask would
    look at each of them in every request."""

    jinja_options = {**Flask.jinja_options, "bytecode_cache": CODE}

    def ensure_sync(self, func: F) -> F:
        return func


def make_page_app() -> PageApp:
    app = PageApp(__package__)
    app.add_template_filter(mark_code, "code")
    app.add_template_filter(key_text, "key")
    return app


def fill_stock() -> None:
    """Compile every template, and draw what of the documentation takes long."""
    templates = make_page_app().jinja_env
    for name in templates.list_templates():
        templates.get_template(name)
    MANUAL.prepare()
