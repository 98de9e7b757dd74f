"""One browser that looks at pages: what axe says of each, what it weighs when nothing is cached, and what it
complains of. A page is opened once; widths and colours change where it is."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

from tests.work import HANG_S

AXE = (Path(__file__).parents[1] / "axe" / "axe.min.js").read_text(encoding="utf-8")
GRAVE = ("serious", "critical")
LOOKS = tuple((width, scheme) for width in (1280, 390) for scheme in ("light", "dark"))
MOST_BYTES = 300_000
CUT = 0
"""The status of what never came back."""
PICTURED = ("1280 light", "390 dark")
MOST_SHOWN = 2400
"""The height of a picture; some pages of the reference are very long."""

# Pages have no inline script and let none in, so the crawler listens from outside of them.
LISTEN = """
window.__broken = [];
document.addEventListener("securitypolicyviolation", (event) => window.__broken.push(
  `${event.violatedDirective}: ${event.blockedURI} ${event.sample}`));
"""
OPEN_ALL = "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
OF_COLOURS = ["color-contrast", "link-in-text-block"]
"""Rules that see another scheme of colours; all others see only what a width changes."""

RUN_AXE = """
async (rules) => (await axe.run(document, {
  resultTypes: ["violations"], preload: false, iframes: false,
  ...(rules ? {runOnly: {type: "rule", values: rules}} : {}),
})).violations
"""
TOO_WIDE = "() => document.documentElement.scrollWidth > window.innerWidth"


@dataclass(frozen=True)
class State:
    """A page as somebody sees it. `act` is what they do first; of `statuses` are the refusals that belong to it."""

    name: str
    path: str
    who: str = ""
    act: Callable[[Page], None] | None = None
    statuses: tuple[int, ...] = ()
    waits: str = ""
    host: str = "filled"
    looks: tuple[tuple[int, str], ...] = LOOKS
    is_examined: bool = True  # by axe; otherwise only how wide it is, and what the browser says


@dataclass
class Visit:
    """What was seen of a state."""

    name: str
    who: str
    path: str
    bytes: int = 0
    seconds: float = 0.0
    looks: int = 0
    grave: list[str] = field(default_factory=list)
    broken_rules: list[str] = field(default_factory=list)
    other_hosts: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    too_wide: list[str] = field(default_factory=list)

    def wrong(self) -> dict[str, list[str]]:
        """What is not as it should be."""
        found = {name: getattr(self, name) for name in PROBLEMS}
        found["too_heavy"] = [f"{self.bytes:,} bytes"] if self.bytes >= MOST_BYTES else []
        return {name: told for name, told in found.items() if told}


PROBLEMS = ("grave", "broken_rules", "other_hosts", "errors", "too_wide")


class Onlooker:
    """Somebody's window. What goes over the wire, and what the browser complains of, is counted per visit."""

    def __init__(
        self, context: BrowserContext, origin: str, pictures: Path | None = None, *, is_cold: bool = True
    ) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(1000 * HANG_S)
        self._origin, self._bytes, self._pictures, self._is_cut = origin, 0, pictures, False
        self._seen: dict[str, list[str]] = {}
        self._statuses: list[tuple[int, str]] = []
        self._cdp: CDPSession = context.new_cdp_session(self.page)
        self._cdp.send("Network.enable")
        self._cdp.send("Network.setCacheDisabled", {"cacheDisabled": is_cold})
        self._cdp.on("Network.loadingFinished", self._weigh)
        self.page.add_init_script(LISTEN)
        self.page.on("pageerror", lambda error: self._note("errors", str(error)))
        self.page.on("console", self._listen)
        self.page.on("request", self._follow)
        self.page.on("response", lambda got: self._statuses.append((got.status, got.url)))

    def look(self, state: State) -> Visit:
        began_s = time.perf_counter()
        self._bytes, self._seen, self._statuses = 0, {name: [] for name in PROBLEMS}, []
        self._is_cut = CUT in state.statuses
        visit = Visit(state.name, state.who, state.path)
        width, scheme = state.looks[0]
        self._see(width, scheme)
        self.page.goto(self._origin + state.path, wait_until="load")
        visit.bytes = self._bytes
        if state.act is not None:
            state.act(self.page)
        if state.waits:
            self.page.wait_for_selector(state.waits)
        self.page.evaluate(OPEN_ALL)
        if state.is_examined:
            self.page.evaluate(AXE)
        seen_widths = set[int]()
        for width, scheme in state.looks:
            self._see(width, scheme)
            rules = OF_COLOURS if width in seen_widths else None
            self._examine(visit, f"{width} {scheme}", rules, state.is_examined)
            seen_widths.add(width)
        self._close(visit, state)
        visit.seconds = round(time.perf_counter() - began_s, 2)
        return visit

    def _see(self, width: int, scheme: Any) -> None:
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")

    def _examine(self, visit: Visit, look: str, rules: list[str] | None, with_axe: bool) -> None:
        found = self.page.evaluate(RUN_AXE, rules) if with_axe else []
        grave = [one for one in found if one["impact"] in GRAVE]
        visit.grave += [f"{look}: {one['id']}: {one['nodes'][0]['html'][:200]}" for one in grave]
        visit.too_wide += [look] if self.page.evaluate(TOO_WIDE) else []
        visit.looks += 1
        if self._pictures is not None and look in PICTURED:
            name = re.sub(r"[^\w-]+", "-", f"{visit.name} {visit.who} {look}")
            shown = {"x": 0, "y": 0, "width": int(look.split()[0]), "height": MOST_SHOWN}
            self.page.screenshot(path=self._pictures / f"{name}.png", full_page=True, clip=shown)  # type: ignore[arg-type]

    def _close(self, visit: Visit, state: State) -> None:
        self._seen["broken_rules"] += self.page.evaluate("() => window.__broken || []")
        for status, url in self._statuses:
            if status >= 400 and status not in state.statuses:
                self._note("errors", f"{status} {url.removeprefix(self._origin)}")
        for name in ("broken_rules", "other_hosts", "errors"):
            setattr(visit, name, sorted(set(self._seen[name])))

    def _note(self, what: str, told: str) -> None:
        self._seen.setdefault(what, []).append(told)

    def _weigh(self, told: dict[str, Any]) -> None:
        self._bytes += int(told["encodedDataLength"])

    def _listen(self, message: Any) -> None:
        """Refusals of the server are looked at by their status; what a browser says of them is no news."""
        is_refusal = "Failed to load resource" in message.text or "Response Status Error Code" in message.text
        is_refusal |= self._is_cut and message.text.startswith("htmx:")
        if message.type == "error" and not is_refusal:
            self._note("errors", message.text[:300])

    def _follow(self, sent: Any) -> None:
        if not sent.url.startswith((self._origin, "blob:", "data:")):
            self._note("other_hosts", sent.url[:200])


@dataclass
class Crawler:
    """One browser, and a window for each person at each host."""

    browser: Browser
    hosts: dict[str, str]
    cookies: dict[tuple[str, str], dict[str, Any]]
    pictures: Path | None = None
    _windows: dict[tuple[str, str], Onlooker] = field(default_factory=dict)

    def look(self, state: State) -> Visit:
        key = (state.host, state.who)
        if key not in self._windows:
            context = self.browser.new_context()
            if key in self.cookies:
                context.add_cookies([self.cookies[key]])  # type: ignore[list-item]
            self._windows[key] = Onlooker(context, self.hosts[state.host], self.pictures)
        return self._windows[key].look(state)


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright  # only whoever crawls needs it

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
