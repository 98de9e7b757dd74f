// The form on the first page. The key lives in its field and nowhere else.
"use strict";

const form = byId("ask");
const result = byId("result");

for (const place of document.querySelectorAll("[data-origin]")) {
  place.textContent = location.origin;
}

function put(sql) {
  byId("sql").value = sql;
  byId("sql").focus();
}

function sqlButton(sql) {
  const button = make("button", sql, { type: "button", class: "sql", title: "Copy to the SQL field" });
  button.addEventListener("click", () => put(sql));
  return button;
}

function show(...elements) {
  result.replaceChildren(...elements);
}

// -- refusals ----------------------------------------------------------------------------------------

function refusal(problem) {
  const card = make("div", undefined, { class: "card refusal" });
  card.append(make("h3", problem.title), make("p", problem.detail));
  if (problem.span) {
    const line = byId("sql").value.split("\n")[problem.span.line - 1] ?? "";
    const carets = " ".repeat(problem.span.column - 1) + "^".repeat(problem.span.length);
    card.append(make("pre", `${line}\n${carets}`, { "aria-label": "Where in the statement" }));
  }
  if (problem.remedy) card.append(make("p", problem.remedy));
  if (problem.suggestion) card.append(make("p", "This would be accepted:"), sqlButton(problem.suggestion));
  if (problem.code) {
    const more = make("p");
    more.append(make("a", `About ${problem.code}`, { href: problem.type, target: "_blank", rel: "noopener" }));
    card.append(more);
  }
  return card;
}

// -- answers -----------------------------------------------------------------------------------------

const CAPTIONS = {
  interval: "Each range contains the true value, ends included. A value after \"about\" is likely, and not guaranteed.",
  laplace: "Numbers have noise. In 95 of 100 answers, the true value lies between the two numbers in parentheses.",
};

function table(answer) {
  const { headings, rows } = answer.readable;
  const head = make("tr");
  for (const heading of headings) head.append(make("th", heading, { scope: "col" }));
  const body = make("tbody");
  for (const row of rows) {
    const line = make("tr");
    row.forEach((text, i) => {
      const kind = answer.columns[i]?.kind === "key" ? "key" : "range";
      line.append(make("td", text, { class: kind }));
    });
    body.append(line);
  }
  const whole = make("table");
  const top = make("thead");
  top.append(head);
  whole.append(make("caption", CAPTIONS[answer.mode]), top, body);
  return whole;
}

async function download(id, kind) {
  const { response, problem } = await call(`/api/v1/answers/${id}.${kind}`);
  if (problem) return result.append(refusal(problem));
  const address = URL.createObjectURL(await response.blob());
  make("a", undefined, { href: address, download: `${id}.${kind}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function downloads(id) {
  const row = make("div", undefined, { class: "actions" });
  for (const kind of ["csv", "json", "parquet", "arrow"]) {
    const button = make("button", kind.toUpperCase(), { type: "button", class: "quiet", title: `Save as ${kind}` });
    button.addEventListener("click", () => download(id, kind));
    row.append(button);
  }
  return row;
}

// The same question once more, with its explanation: it is asked only by those who want to know.
function whyWide(question) {
  const fold = make("details");
  fold.append(make("summary", "Why is it this wide?"));
  fold.addEventListener("toggle", async () => {
    if (!fold.open || fold.childElementCount > 1) return;
    const waiting = make("p", "Trying questions nearby …", { class: "notes" });
    fold.append(waiting);
    const asked = { ...question, options: { ...question.options, explain: true } };
    const { response, problem } = await call("/api/v1/query", asked);
    waiting.remove();
    if (problem) return fold.append(refusal(problem));
    const { explanation, readable } = await response.json();
    const offered = new Set(explanation.suggestions.map((suggestion) => suggestion.sql));
    for (const line of readable.explanation) {
      const text = line.trim();
      fold.append(offered.has(text) ? sqlButton(text) : make("p", text, { class: line === text ? "why" : "why in" }));
    }
  });
  return fold;
}

function answered(answer, question) {
  const card = make("div", undefined, { class: "card" });
  const scroll = make("div", undefined, { class: "scroll", tabindex: "0", role: "region", "aria-label": "Answer" });
  scroll.append(table(answer));
  if (answer.limit) card.append(make("p", answer.limit.note, { class: "notes" }));
  card.append(scroll);
  for (const note of answer.notes) card.append(make("p", note, { class: "notes" }));
  if (answer.budget) {
    const { spent, left } = answer.budget;
    card.append(make("p", `This answer cost epsilon ${figure(spent)}; you have ${figure(left)} left.`, { class: "notes" }));
  }
  if (answer.mode === "interval" && answer.columns.some((column) => column.kind === "range")) {
    card.append(whyWide(question));
  }
  const about = `${answer.dataset}, version ${answer.version}. ${answer.query_id}${answer.elapsed_ms === undefined ? "" : `, ${answer.elapsed_ms} ms`}.`;
  card.append(make("p", about, { class: "notes" }), downloads(answer.query_id));
  return card;
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = byId("send");
  button.disabled = true;
  const question = { dataset: byId("dataset").value, sql: byId("sql").value, options: { readable: true, ...noise() } };
  const { response, problem } = await call("/api/v1/query", question);
  show(problem ? refusal(problem) : answered(await response.json(), question));
  if (!byId("noise").hidden) await tellBudget();
  button.disabled = false;
});

// -- noise, where the dataset allows it ---------------------------------------------------------------

const figure = (number) => Number(number.toPrecision(6)).toString();

function isNoisy() {
  return !byId("noise").hidden && byId("mode").value === "laplace";
}

function noise() {
  if (byId("noise").hidden) return {};
  const epsilon = Number(byId("epsilon").value);
  return { mode: byId("mode").value, ...(isNoisy() && epsilon > 0 ? { epsilon } : {}) };
}

function chooseMode() {
  byId("epsilon").disabled = !isNoisy();
  byId("price").hidden = !isNoisy();
}

async function offerNoise(modes) {
  byId("noise").hidden = !modes.includes("laplace");
  for (const option of byId("mode").options) option.disabled = !modes.includes(option.value);
  byId("mode").value = modes.includes("interval") ? "interval" : "laplace";
  chooseMode();
  if (!byId("noise").hidden) await tellBudget();
}

async function tellBudget() {
  const { response, problem } = await call(`/api/v1/budget?dataset=${encodeURIComponent(byId("dataset").value)}`);
  if (problem) return;
  const { left, limits } = await response.json();
  byId("budget").textContent = `You have epsilon ${figure(left.user)} of ${figure(limits.user)} left for noisy answers.`;
}

async function tellPrice() {
  const question = { dataset: byId("dataset").value, statements: [byId("sql").value], options: noise() };
  const { response, problem } = await call("/api/v1/query/price", question);
  if (problem) return show(refusal(problem));
  const { cost } = await response.json();
  const card = make("div", undefined, { class: "card" });
  card.append(make("h3", `This would cost epsilon ${figure(cost.epsilon)}`));
  card.append(make("p", "Nothing was run, and nothing was spent.", { class: "notes" }));
  show(card);
}

byId("mode").addEventListener("change", chooseMode);
byId("price").addEventListener("click", tellPrice);

// -- datasets, once there is a key -------------------------------------------------------------------

async function listDatasets() {
  const names = byId("dataset");
  const { response, problem } = await call("/api/v1/datasets");
  names.replaceChildren();
  byId("about").hidden = true;
  if (problem) return show(refusal(problem));
  show();
  const { datasets } = await response.json();
  for (const found of datasets) {
    const title = found.title ? `${found.dataset} (${found.title})` : found.dataset;
    names.append(make("option", title, { value: found.dataset }));
  }
  if (datasets.length) await describe();
}

function meaning(column) {
  if (column.values) return column.values.slice(0, 12).join(", ") + (column.values.length > 12 ? " …" : "");
  return column.domain ? `${column.domain[0]} .. ${column.domain[1]}` : "";
}

// Which conditions are decided for everybody.
function sharp(column) {
  const cuts = column.cuts ?? [];
  if (cuts.length > 1) return `sharp at ${cuts.slice(0, 12).join(", ")}${cuts.length > 12 ? " …" : ""}`;
  return column.decided === undefined ? "" : `${percent(column.decided)} of the records have a value of their own`;
}

// Rounded down: 100 % means all of them.
const percent = (share) => `${Math.floor(share * 1000) / 10} %`;

async function describe() {
  const { response, problem } = await call(`/api/v1/datasets/${encodeURIComponent(byId("dataset").value)}`);
  if (problem) return show(refusal(problem));
  const dataset = await response.json();
  const records = dataset.rows === null ? "" : `${dataset.rows.toLocaleString("en")} records, `;
  byId("about-title").textContent = `${dataset.dataset}: ${records}k = ${dataset.k}`;
  const joinable = dataset.tables.flatMap((table) =>
    [{ name: table.key, type: "key" }, ...table.columns].map(({ name, type }) => ({ name: `${table.name}.${name}`, type })),
  );
  byId("columns").replaceChildren(...[...dataset.columns, ...joinable].map((column) => {
    const line = make("tr");
    const public_ = make("td", meaning(column));
    for (const more of [column.title, sharp(column)]) {
      if (more) public_.append(make("p", more, { class: "hint" }));
    }
    line.append(make("td", column.name), make("td", column.type), public_);
    return line;
  }));
  const together = (dataset.together ?? []).map(
    ({ columns, decided }) => `Known together for ${percent(decided)} of the records: ${columns.join(", ")}.`,
  );
  byId("policy").replaceChildren(...[...dataset.policy, ...together].map((sentence) => make("li", sentence)));
  byId("examples").replaceChildren(...dataset.examples.map(sqlButton));
  byId("about").hidden = false;
  await offerNoise(dataset.modes);
  if (!byId("sql").value) byId("sql").value = dataset.examples.at(-1) ?? "";
}

onKey(listDatasets);
byId("dataset").addEventListener("change", describe);
