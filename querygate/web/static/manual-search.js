// The search of the documentation where no gate serves it: the sections are in one file beside the pages.
"use strict";

const place = document.getElementById("found");
const asked = new URLSearchParams(location.search).get("q") || "";
const words = asked.toLowerCase().match(/[\p{L}\p{N}_.]+/gu) || [];
const LATE = /^(decisions\/|explanation\/proofs\/|changelog)/;

const starts = (word) => new RegExp(`(?<![\\p{L}\\p{N}_])${word.replace(/\./g, "\\.")}`, "iu");

function rate(section, patterns) {
  let total = 0;
  for (const pattern of patterns) {
    const points =
      8 * pattern.test(section.title) + 5 * pattern.test(section.heading) + pattern.test(section.text) / 2;
    if (!points) return 0;
    total += points;
  }
  return LATE.test(section.page) ? total / 4 : total;
}

function add(parent, tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  parent.append(made);
  return made;
}

function show(section, patterns, pages, list) {
  const item = add(list, "li", "");
  add(item, "a", section.heading).href = `${pages[section.page]}#${section.anchor}`;
  if (section.heading !== section.title) add(item, "span", ` in ${section.title}`).className = "notes";
  const first = Math.min(...patterns.map((pattern) => section.text.search(pattern)).filter((at) => at >= 0), 1e9);
  const from = first === 1e9 ? 0 : Math.max(0, first - 60);
  add(item, "p", (from ? "… " : "") + section.text.slice(from, from + 200));
}

async function search() {
  const { pages, sections } = await (await fetch(place.dataset.index)).json();
  const patterns = words.slice(0, 8).map(starts);
  const rated = sections.map((section) => [rate(section, patterns), section]).filter(([points]) => points);
  rated.sort((a, b) => b[0] - a[0]);
  place.replaceChildren();
  if (!rated.length) add(place, "p", `Nothing was found for “${asked}”.`);
  const list = add(place, "ol", "");
  list.className = "found";
  for (const [, section] of rated.slice(0, 30)) show(section, patterns, pages, list);
}

document.querySelector("input[name=q]").value = asked;
if (words.length) search();
