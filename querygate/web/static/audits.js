// The page of audits: the cases of the last one, gravest first.
"use strict";

const result = byId("result");
const MEANING = {
  disclosed: "the answers determine a value",
  exposed: "the answers narrow a value down",
  attempt: "the queries isolate fewer than k records",
  notice: "worth a look; nobody is isolated",
};

function counted(number, one, several = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
}

function records(number) {
  return counted(number, "record");
}

function refusal(problem) {
  const card = make("div", undefined, { class: "card refusal" });
  card.append(make("h3", problem.title), make("p", problem.detail));
  if (problem.remedy) card.append(make("p", problem.remedy));
  return card;
}

function facts(pairs) {
  const list = make("dl", undefined, { class: "terms" });
  for (const [name, text] of pairs) if (text) list.append(make("dt", name), make("dd", text));
  return list;
}

// -- a case -------------------------------------------------------------------------------------------

function proof(finding) {
  const block = make("div");
  const line = make("p");
  line.append(make("strong", `${records(finding.isolates.records)}: `), make("code", finding.isolates.where));
  const sum = finding.combination.map(({ times, query, measure, records: size }) => {
    const sign = times.startsWith("-") ? `−${times.slice(1)}` : `+${times}`;
    return `${sign} × ${query}   ${measure}${size === undefined ? "" : `, ${records(size)}`}`;
  });
  block.append(line);
  block.append(sum.length ? make("pre", sum.join("\n"), { "aria-label": "Combination" }) : make("p", finding.explanation));
  return block;
}

const SHOWN = 5;

function caseCard(found, body) {
  const card = make("section", undefined, { class: `card case ${found.severity}`, id: found.id });
  const heading = make("h3");
  heading.append(make("span", found.severity, { class: "severity" }), ` ${records(found.records)} `);
  heading.append(make("span", found.id, { class: "badge" }));
  card.append(heading, facts([
    ["users", found.users.join(", ")],
    ["kinds", found.kinds.join(", ")],
    ["view", found.view],
    ["asked", found.first === found.last ? found.first : `${found.first} to ${found.last}`],
    ["signs of intent", found.signs.join("; ")],
  ]));
  const asked = body.statements.filter(({ id }) => found.queries.includes(id));
  for (const statement of asked.slice(0, SHOWN)) {
    card.append(make("p", `${statement.id}, ${statement.user}`, { class: "notes" }), make("pre", statement.sql));
  }
  if (found.queries.length > Math.min(asked.length, SHOWN)) {
    card.append(make("p", `${counted(found.queries.length - Math.min(asked.length, SHOWN), "more query", "more queries")}.`, { class: "notes" }));
  }
  const findings = body.findings.filter((finding) => finding.case === found.id);
  card.append(...findings.slice(0, SHOWN).map(proof));
  if (findings.length > SHOWN) card.append(make("p", `${counted(findings.length - SHOWN, "more finding")}.`, { class: "notes" }));
  return card;
}

// -- the whole ----------------------------------------------------------------------------------------

function summary(body) {
  const card = make("div", undefined, { class: "card" });
  if (!body.audited) {
    card.append(make("p", `${body.dataset} has not been audited yet. See below how to run an audit.`));
    return card;
  }
  if (!body.queries_audited) card.append(make("p", `Nothing was audited: 0 of ${counted(body.queries, "query", "queries")}.`, { class: "refusal" }));
  for (const one of body.unproved) {
    card.append(make("p", `A finding is unproved (incident ${one.incident}): ${one.queries.join(", ")} of ${one.users.join(", ")}.`));
  }
  const queries = `${body.queries_audited.toLocaleString("en")} of ${counted(body.queries, "query", "queries")}`;
  const when = `Audited ${body.audited} by ${body.by}: ${queries}, k = ${body.k ?? "–"}.`;
  card.append(make("p", when));
  const list = make("ul", undefined, { class: "tallies" });
  for (const [severity, number] of Object.entries(body.severities)) {
    const item = make("li", undefined, { class: severity });
    item.append(make("strong", number.toLocaleString("en")), make("span", severity, { class: "severity" }));
    item.append(make("span", MEANING[severity] ?? "", { class: "hint" }));
    list.append(item);
  }
  card.append(list);
  if (!body.cases.length && !body.unproved.length && body.queries_audited) {
    card.append(make("p", "Nothing about a group of fewer than k records can be worked out from what was audited."));
  }
  if (body.not_audited.length) card.append(make("p", `${counted(body.not_audited.length, "query", "queries")} could not be audited.`));
  if (body.left_out.length) card.append(make("p", `${counted(body.left_out.length, "test was", "tests were")} left out.`));
  return card;
}

function alerts(body) {
  const card = make("section", undefined, { class: "card" });
  card.append(make("h3", "Latest alerts"));
  const whole = make("table");
  const head = make("tr");
  for (const heading of ["Time", "User", "Query", "View", "Rule", "Records"]) head.append(make("th", heading, { scope: "col" }));
  whole.append(head);
  for (const one of body.alerts) {
    const line = make("tr");
    for (const text of [one.time, one.user, one.query, one.view, one.rule, one.records]) line.append(make("td", text));
    whole.append(line);
  }
  const scroll = make("div", undefined, { class: "scroll", tabindex: "0", role: "region", "aria-label": "Alerts" });
  scroll.append(whole);
  card.append(scroll);
  return card;
}

async function look() {
  const name = encodeURIComponent(byId("dataset").value);
  const { response, problem } = await call(`/api/v1/audit/findings?dataset=${name}`);
  if (problem) return result.replaceChildren(refusal(problem));
  const body = await response.json();
  result.replaceChildren(summary(body), ...body.cases.map((found) => caseCard(found, body)));
  if (body.alerts.length) result.append(alerts(body));
}

async function listDatasets() {
  const { response, problem } = await call("/api/v1/datasets");
  byId("dataset").replaceChildren();
  if (problem) return result.replaceChildren(refusal(problem));
  result.replaceChildren();
  const { datasets } = await response.json();
  for (const found of datasets) byId("dataset").append(make("option", found.dataset, { value: found.dataset }));
}

byId("look").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = byId("send");
  button.disabled = true;
  await look();
  button.disabled = false;
});
onKey(listDatasets);
