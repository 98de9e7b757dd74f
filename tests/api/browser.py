"""A browser of one person, as far as pages without script need one."""

from __future__ import annotations

import re
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

PART = {"HX-Request": "true"}


class Browser:
    """It holds a cookie, and sends the proof that the pages gave it."""

    def __init__(self, app: Flask, key: str = "") -> None:
        self.client = app.test_client()
        if key:
            response = self.client.post("/sign-in", data={"key": key})
            assert response.status_code == 303, response.text
        found = re.search(r'name="proof" value="(\w+)"', self.get("/history").text)
        self.proof = found[1] if found else ""

    def get(self, path: str, **more: Any) -> TestResponse:
        return self.client.get(path, buffered=True, **more)

    def post(self, path: str, part: bool = True, **form: str) -> TestResponse:
        return self.client.post(path, data={"proof": self.proof} | form, headers=PART if part else {})

    def ask(self, sql: str, dataset: str = "clinic", **form: str) -> TestResponse:
        return self.post(f"/datasets/{dataset}/answer", sql=sql, **form)
