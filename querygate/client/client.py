"""Two clients, one that waits and one that awaits: both say the same, and differ in how they carry it."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

import httpx

from querygate.client.answer import Answer
from querygate.client.problem import no_gate, too_large
from querygate.client.requests_and_replies import (
    API,
    Call,
    Conversation,
    NotArrived,
    Patience,
    Pause,
    Reply,
    ask,
    await_job,
    check_address,
    fetch,
    fetch_answer,
    fetch_bytes,
    find_key,
    fit,
    make_question,
    quoted,
    with_query,
)

P = ParamSpec("P")
T = TypeVar("T")

TIMEOUT_S = 60.0

MOST_BYTES = 256 << 20
"""More than any answer has: what answers at an address may not be a gate, or not mean well."""


def software() -> str:
    """Which client this is: alone, or as a part of QueryGate."""
    for name in ("querygate", "querygate-client"):
        try:
            return f"{name}/{version(name)}"
        except PackageNotFoundError:
            continue
    return "querygate"


class said(Generic[P, T]):  # noqa: N801 - it stands where `property` would
    """A conversation as a method of both clients: one gives its result, the other what can be awaited for it."""

    def __init__(self, talk: Callable[Concatenate[Any, P], Conversation[T]]) -> None:
        self._talk = talk
        functools.update_wrapper(self, talk)  # type: ignore[arg-type]

    @overload
    def __get__(self, client: Client, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncClient, owner: type) -> Callable[P, Awaitable[T]]: ...
    @overload
    def __get__(self, client: None, owner: type) -> Callable[..., Conversation[T]]: ...
    def __get__(self, client: Client | AsyncClient | None, owner: type) -> Any:
        if client is None:
            return self._talk

        @functools.wraps(self._talk)
        def carried(*args: P.args, **named: P.kwargs) -> Any:
            return client.carry(self._talk(client, *args, **named))

        return carried


class _Talk:
    """What both clients can say. Of `AsyncClient`, await what these methods return."""

    def __init__(self, url: str, key: str | Path | None, dataset: str | None, patience: Patience) -> None:
        self.url, self.dataset, self.patience = check_address(url), dataset, patience
        shown = find_key(key)
        self._headers = {"User-Agent": software()} | ({"Authorization": f"Bearer {shown}"} if shown else {})

    def __repr__(self) -> str:
        """Without the key, and without a password in the address: notebooks are passed on."""
        about = f", dataset {self.dataset}" if self.dataset else ""
        scheme, _, place = self.url.partition("://")
        return f"<{type(self).__name__} of the gate at {scheme}://{place.rpartition('@')[2]}{about}>"

    @said
    def query(
        self,
        sql: str,
        dataset: str | None = None,
        *,
        mode: str | None = None,
        epsilon: float | None = None,
        consistent: bool = False,
        explain: bool = False,
    ) -> Conversation[Answer]:
        """Ask one statement. Raises Refusal where the gate refuses it; a noisy answer is waited for."""
        options = {"mode": mode, "epsilon": epsilon, "consistent": consistent, "explain": explain}
        return ask(make_question(sql, dataset or self.dataset, options), self.patience)

    @said
    def check(
        self,
        sql: str,
        dataset: str | None = None,
        *,
        mode: str | None = None,
        epsilon: float | None = None,
        explain: bool = False,
    ) -> Conversation[dict[str, Any]]:
        """Would it be accepted, and at what cost? Nothing is spent."""
        options = {"mode": mode, "epsilon": epsilon, "explain": explain}
        question = make_question(sql, dataset or self.dataset, options)
        return fetch(Call("POST", f"{API}/query/check", question), self.patience)

    @said
    def fit(
        self,
        family: str,
        formula: str,
        dataset: str | None = None,
        *,
        where: str = "",
        exposure: str = "",
        reference: Mapping[str, str] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Conversation[Answer]:
        """Fit a model: `fit("logistic", "smoked ~ bands(age) + sex")`. Each figure of its table is a range, which has
        what a fit to the raw records gives."""
        more = {"where": where, "exposure": exposure, "reference": reference, "weights": weights}
        told = {name: value for name, value in more.items() if value}
        return fit({"dataset": self._named(dataset), "family": family, "formula": formula, **told}, self.patience)

    @said
    def datasets(self) -> Conversation[list[dict[str, Any]]]:
        """The datasets that you may ask."""
        return self._listed("datasets", "/datasets")

    @said
    def describe(self, dataset: str | None = None) -> Conversation[dict[str, Any]]:
        """The columns of a dataset, its policy in words, and statements to start with."""
        return self._get(f"/datasets/{quoted(self._named(dataset))}")

    @said
    def answer(self, answer_id: str) -> Conversation[Answer]:
        """An answer of yours again, from the log."""
        return fetch_answer(answer_id, self.patience)

    @said
    def history(self, dataset: str | None = None, limit: int | None = None) -> Conversation[list[dict[str, Any]]]:
        """Your own questions, newest first."""
        return self._listed("entries", "/history", dataset=dataset, limit=limit)

    @said
    def saved(self, *, shared: bool = False) -> Conversation[list[dict[str, Any]]]:
        """The queries that you have saved, or those that others share with you."""
        return self._listed("queries", "/saved", whose="shared" if shared else "own")

    @said
    def budget(self, dataset: str | None = None) -> Conversation[dict[str, Any]]:
        """What is left for noisy answers about a dataset."""
        return self._get("/budget", dataset=self._named(dataset))

    @said
    def job(self, job_id: str) -> Conversation[Answer]:
        """The answer of a job, waited for."""
        return await_job(job_id, self.patience)

    @said
    def twin(
        self, dataset: str | None = None, rows: int | None = None, seed: int = 0, form: str = "csv"
    ) -> Conversation[bytes]:
        """Made-up rows that look like the dataset, as a CSV or Parquet file."""
        path = f"{API}/datasets/{quoted(self._named(dataset))}/twin.{form}"
        return fetch_bytes(Call("GET", with_query(path, rows=rows, seed=seed), accept="*/*"), self.patience)

    def _get(self, path: str, **parameters: object) -> Conversation[dict[str, Any]]:
        return fetch(Call("GET", with_query(API + path, **parameters)), self.patience)

    def _listed(self, name: str, path: str, **parameters: object) -> Conversation[list[dict[str, Any]]]:
        body = yield from self._get(path, **parameters)
        found: list[dict[str, Any]] = body[name]
        return found

    def _named(self, dataset: str | None) -> str:
        name = dataset or self.dataset
        if not name:
            raise ValueError("Say which dataset.")
        return name


class Client(_Talk):
    """A gate, for one person. Threads may share it."""

    def __init__(
        self,
        url: str,
        key: str | Path | None = None,
        dataset: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        patience: Patience | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(url, key, dataset, patience or Patience())
        self._http = httpx.Client(base_url=self.url, headers=self._headers, timeout=timeout_s, transport=transport)

    def carry(self, conversation: Conversation[T]) -> T:
        """Take a conversation to its end."""
        try:
            said = next(conversation)
            while True:
                if isinstance(said, Pause):
                    time.sleep(said.seconds)
                    said = conversation.send(None)
                else:
                    said = _told(conversation, self._send(said))
        except StopIteration as ended:
            result: T = ended.value
            return result

    def _send(self, call: Call) -> Reply | NotArrived:
        try:
            with self._http.stream(call.method, call.path, json=call.body, headers=call.headers) as response:
                content = bytearray()
                for part in response.iter_bytes():
                    _gather(content, part)
                return Reply(response.status_code, response.headers, bytes(content))
        except httpx.DecodingError:
            raise no_gate() from None
        except httpx.TransportError as error:
            return NotArrived(type(error).__name__)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncClient(_Talk):
    """The same for programs that await."""

    def __init__(
        self,
        url: str,
        key: str | Path | None = None,
        dataset: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        patience: Patience | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(url, key, dataset, patience or Patience())
        self._http = httpx.AsyncClient(base_url=self.url, headers=self._headers, timeout=timeout_s, transport=transport)

    async def carry(self, conversation: Conversation[T]) -> T:
        """Take a conversation to its end."""
        try:
            said = next(conversation)
            while True:
                if isinstance(said, Pause):
                    await asyncio.sleep(said.seconds)
                    said = conversation.send(None)
                else:
                    said = _told(conversation, await self._send(said))
        except StopIteration as ended:
            result: T = ended.value
            return result

    async def _send(self, call: Call) -> Reply | NotArrived:
        try:
            async with self._http.stream(call.method, call.path, json=call.body, headers=call.headers) as response:
                content = bytearray()
                async for part in response.aiter_bytes():
                    _gather(content, part)
                return Reply(response.status_code, response.headers, bytes(content))
        except httpx.DecodingError:
            raise no_gate() from None
        except httpx.TransportError as error:
            return NotArrived(type(error).__name__)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


def _told(conversation: Generator[Call | Pause, Reply | None, Any], reply: Reply | NotArrived) -> Call | Pause:
    return conversation.throw(reply) if isinstance(reply, NotArrived) else conversation.send(reply)


def _gather(content: bytearray, part: bytes) -> None:
    content += part
    if len(content) > MOST_BYTES:
        raise too_large()


def connect(url: str, key: str | Path | None = None, dataset: str | None = None, **more: Any) -> Client:
    """A connection to a gate. The key may be a Path to a file that holds it; without one, QUERYGATE_KEY has it.

    More options are those of `Client`: `timeout_s`, `patience`, `transport`.
    """
    return Client(url, key, dataset, **more)


async def connect_async(
    url: str, key: str | Path | None = None, dataset: str | None = None, **more: Any
) -> AsyncClient:
    """The same, for programs that await."""
    return AsyncClient(url, key, dataset, **more)
