// What the pages share: calling the gate with the key that stands in its field and nowhere else.
"use strict";

const byId = (id) => document.getElementById(id);

function make(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function unreachable() {
  return { title: "No answer from the gate", code: "", detail: "The server could not be reached.", remedy: "Try again." };
}

// A response of the gate, or the problem as an object. Never throws.
async function call(path, body) {
  const headers = { Authorization: `Bearer ${byId("key").value.trim()}` };
  const options = { headers, cache: "no-store" };
  if (body) {
    headers["Content-Type"] = "application/json";
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  try {
    const response = await fetch(path, options);
    return response.ok ? { response } : { problem: await response.json() };
  } catch {
    return { problem: unreachable() };
  }
}

// A whole key is tried as soon as it is there, anything else when the field is left.
const WHOLE_KEY = /^qg_[a-z2-7]{8}_[a-z2-7]{52}$/;

function onKey(handle) {
  let tried = "";
  function tryKey(event) {
    const key = byId("key").value.trim();
    if (!key || key === tried || (event.type === "input" && !WHOLE_KEY.test(key))) return;
    tried = key;
    handle();
  }
  byId("key").addEventListener("input", tryKey);
  byId("key").addEventListener("change", tryKey);
}
