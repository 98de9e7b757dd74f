"""Every setting: its default, the file over it, the environment over both, and what is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from querygate.core.errors import ConfigError
from querygate.core.ports import Limits
from querygate.site.settings import FILE, PREFIX, SETTINGS, Setting, load_settings
from tests.each import each

every = each("setting", SETTINGS)
numeric = each("setting", [s for s in SETTINGS if not isinstance(s.default, (str, bool))])


def in_file(folder: Path, text: str) -> Path:
    (folder / FILE).write_text(text, encoding="utf-8")
    return folder


def refused(folder: Path, environment: dict[str, str] | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_settings(folder, environment or {})
    assert caught.value.code == "QG805"
    return caught.value


def another(setting: Setting) -> bool | int | float | str:
    """An accepted value that is not the default."""
    if isinstance(setting.default, bool):
        return not setting.default
    if isinstance(setting.default, str):
        return "::1"
    kind = type(setting.default)
    return kind(setting.least if setting.default != setting.least else setting.most)


# -- where a value comes from --------------------------------------------------------------------------------------


@every
def test_silence_means_the_default(tmp_path: Path, setting: Setting) -> None:
    settings = load_settings(tmp_path, {})

    assert settings[setting.name] == setting.default
    assert settings.origin[setting.name] == "default"


@every
def test_the_file_says_otherwise(tmp_path: Path, setting: Setting) -> None:
    value = another(setting)
    written = f'"{value}"' if isinstance(value, str) else str(value).lower()
    settings = load_settings(in_file(tmp_path, f"{setting.name} = {written}"), {})

    assert settings[setting.name] == value
    assert type(settings[setting.name]) is type(setting.default)
    assert settings.origin[setting.name] == "file"
    assert [name for name, origin in settings.origin.items() if origin != "default"] == [setting.name]


@every
def test_the_environment_wins(tmp_path: Path, setting: Setting) -> None:
    value = another(setting)
    default = f'"{setting.default}"' if isinstance(setting.default, str) else str(setting.default).lower()
    folder = in_file(tmp_path, f"{setting.name} = {default}")
    settings = load_settings(folder, {PREFIX + setting.name.upper(): str(value)})

    assert settings[setting.name] == value
    assert type(settings[setting.name]) is type(setting.default)
    assert settings.origin[setting.name] == "environment"


def test_the_process_environment_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERYGATE_PORT", "8181")

    assert load_settings(tmp_path)["port"] == 8181


def test_other_variables_of_the_environment_are_not_settings(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, {"QUERYGATE_SITE": "/x", "PORT": "1", "querygate_port": "2", "QUERYGATE_": "3"})

    assert set(settings.origin.values()) == {"default"}


# -- what each may be ----------------------------------------------------------------------------------------------


@numeric
def test_both_ends_are_accepted_and_nothing_beyond(tmp_path: Path, setting: Setting) -> None:
    assert setting.least is not None
    assert setting.most is not None
    variable = PREFIX + setting.name.upper()
    for end in (setting.least, setting.most):
        text = f"{end:g}" if isinstance(setting.default, float) else str(int(end))
        assert load_settings(tmp_path, {variable: text})[setting.name] == end
    for text in (f"{setting.least - 1:g}", f"{int(setting.most) + 1}", "1e9", "-1"):
        error = refused(tmp_path, {variable: text})
        assert variable in error.detail
        assert f"from {setting.least:g} to {setting.most:g}" in error.remedy


@numeric
@each(
    "written",
    ['"many"', '""', "true", "[]", "[1]", "{}", "nan", "inf", "-inf", "2020-01-01", "1e400", "9" * 400, '"0x10"'],
)
def test_what_is_no_number_in_the_file_is_refused(tmp_path: Path, setting: Setting, written: str) -> None:
    error = refused(in_file(tmp_path, f"{setting.name} = {written}"))

    assert FILE in error.detail
    assert setting.name in error.detail


@numeric
@each("text", ["", " ", "many", "nan", "inf", "0x10", "8080;"])
def test_what_is_no_number_in_the_environment_is_refused(tmp_path: Path, setting: Setting, text: str) -> None:
    error = refused(tmp_path, {PREFIX + setting.name.upper(): text})

    assert PREFIX + setting.name.upper() in error.detail


@pytest.mark.parametrize("setting", [s for s in SETTINGS if type(s.default) is int], ids=lambda setting: setting.name)
def test_whole_settings_take_whole_numbers(tmp_path: Path, setting: Setting) -> None:
    assert (
        load_settings(in_file(tmp_path, f"{setting.name} = {setting.default}.0"), {})[setting.name] == setting.default
    )
    refused(in_file(tmp_path, f"{setting.name} = {setting.default}.5"))
    refused(tmp_path, {PREFIX + setting.name.upper(): f"{setting.default}.5"})


@pytest.mark.parametrize("written", ["8080", "true", "[]", "1.5"])
def test_a_text_is_a_text(tmp_path: Path, written: str) -> None:
    assert "host" in refused(in_file(tmp_path, f"host = {written}")).detail


# -- the file ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["prot = 8080", "k = 5", "[server]\nport = 1", '"" = 1'])
def test_an_unknown_key_is_named_with_those_there_are(tmp_path: Path, text: str) -> None:
    error = refused(in_file(tmp_path, text))

    assert next(iter(tomllib.loads(text))) in error.detail
    assert all(setting.name in error.remedy for setting in SETTINGS)


@pytest.mark.parametrize(
    "content",
    [b"port 8080", b"port = ", b"\xff\xfe", b"port = 1\nport = 2", b"port = " + b"9" * 5000, b"a=" + b"[" * 9999],
)
def test_a_file_that_is_not_toml(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)

    assert FILE in refused(tmp_path).detail


# -- what they are for ---------------------------------------------------------------------------------------------


def test_limits_of_a_statement(tmp_path: Path) -> None:
    text = "query_timeout_s = 2.5\nquery_memory_mb = 128\nmax_groups = 7\nmax_sql_chars = 500\nmax_nesting = 9"

    assert load_settings(in_file(tmp_path, text), {}).limits == Limits(2.5, 128, 7, 500, 9)
    assert load_settings(tmp_path / "none", {}).limits == Limits()


def test_every_setting_says_what_it_is_for() -> None:
    assert all(setting.help.endswith(".") and len(setting.help) > 10 for setting in SETTINGS)
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)
    assert all(setting.name == setting.name.lower() for setting in SETTINGS)


@pytest.mark.parametrize("value", ["1", "yes", "maybe", ""])
def test_a_switch_is_true_or_false(tmp_path: Path, value: str) -> None:
    assert "true or false" in refused(tmp_path, {"QUERYGATE_INLINE_AUDIT": value}).remedy
    refused(in_file(tmp_path, "inline_audit = 1"))


def test_what_is_accepted_is_told_in_words(tmp_path: Path) -> None:
    assert refused(tmp_path, {f"{PREFIX}PORT": "none"}).remedy == "Accepted: a whole number from 1 to 65535."
