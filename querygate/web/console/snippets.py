"""The same question from a program: what to paste into a shell, a notebook or a script."""

from __future__ import annotations

import json


def make_snippets(origin: str, dataset: str, sql: str) -> dict[str, str]:
    """By the name of the language. The key is never among them: it is read from the environment."""
    body = json.dumps({"dataset": dataset, "sql": sql}, ensure_ascii=False)
    quoted = "'" + body.replace("'", "'\\''") + "'"
    address = f"{origin}/api/v1/query"
    return {
        "curl": f'curl {address} -H "Authorization: Bearer $QUERYGATE_KEY" \\\n  -d {quoted}',
        "Python": (
            "import json, os, urllib.request\n\n"
            f"question = {{'dataset': {dataset!r}, 'sql': {sql!r}}}\n"
            f"request = urllib.request.Request({address!r}, json.dumps(question).encode(),\n"
            "    {'Authorization': f\"Bearer {os.environ['QUERYGATE_KEY']}\"})\n"
            "answer = json.load(urllib.request.urlopen(request))\n"
            "for row in answer['rows']:\n"
            "    print(row)"
        ),
        "R": (
            "library(httr2)\n\n"
            f"answer <- request({json.dumps(address)}) |>\n"
            '  req_auth_bearer_token(Sys.getenv("QUERYGATE_KEY")) |>\n'
            f"  req_body_json(list(dataset = {json.dumps(dataset)},\n"
            f"                     sql = {json.dumps(sql, ensure_ascii=False)})) |>\n"
            "  req_perform() |>\n"
            "  resp_body_json()"
        ),
    }
