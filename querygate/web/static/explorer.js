// Sends calls of the API's page. The key that is typed in stays in the page and is gone with it.
"use strict";

const LONGEST = 50000;

function addressOf(call) {
  const asked = new URLSearchParams();
  let path = call.dataset.path;
  for (const field of call.querySelectorAll("[data-name]")) {
    if (field.dataset.in === "path") {
      path = path.replace(`{${field.dataset.name}}`, encodeURIComponent(field.value));
    } else if (field.dataset.in === "query" && field.value) {
      asked.set(field.dataset.name, field.value);
    }
  }
  return asked.size ? `${path}?${asked}` : path;
}

function headersOf(call) {
  const headers = {};
  const key = document.getElementById("key").value.trim();
  if (key) {
    headers.Authorization = `Bearer ${key}`;
  }
  for (const field of call.querySelectorAll("[data-in=header]")) {
    if (field.value) {
      headers[field.dataset.name] = field.value;
    }
  }
  return headers;
}

async function textOf(response) {
  const media = response.headers.get("Content-Type") || "";
  if (!/json|text|xml/.test(media)) {
    return `${(await response.blob()).size} bytes of ${media}`;
  }
  const text = await response.text();
  const shown = /json/.test(media) ? JSON.stringify(JSON.parse(text), null, 2) : text;
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}\n...` : shown;
}

function show(call, told, text) {
  const came = call.querySelector(".came");
  came.hidden = false;
  came.querySelector("p").textContent = told;
  came.querySelector("code").textContent = text;
}

async function send(button) {
  const call = button.closest("[data-call]");
  const body = call.querySelector("[data-in=body]");
  const headers = headersOf(call);
  if (body) {
    headers["Content-Type"] = "application/json";
  }
  button.disabled = true;
  try {
    const response = await fetch(addressOf(call), {
      method: call.dataset.call,
      headers,
      body: body ? body.value : undefined,
      credentials: "omit",
      cache: "no-store",
    });
    show(call, `${response.status} ${response.statusText}`, await textOf(response));
  } catch (error) {
    show(call, "The server could not be reached, or its answer not be read.", String(error));
  } finally {
    button.disabled = false;
  }
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}

document.addEventListener("click", (event) => {
  if (event.target.matches("[data-send]")) {
    send(event.target);
  }
});
window.addEventListener("hashchange", openTarget);
openTarget();
