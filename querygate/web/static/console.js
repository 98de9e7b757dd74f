// What the console's pages do beyond forms: put SQL into the editor, copy, save pictures, cancel. Everything that matters
// works without this file.
"use strict";

function sqlField() {
  return document.getElementById("sql");
}

function putStatement(sql) {
  const field = sqlField();
  if (!field) {
    return;
  }
  if (window.querygateEditor) {
    window.querygateEditor.replace(sql);
  } else {
    field.value = sql;
  }
}

function insertText(text) {
  const field = sqlField();
  if (window.querygateEditor) {
    window.querygateEditor.insert(text);
  } else if (field) {
    field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
    field.focus();
  }
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// The picture as it is saved has styles of its own, so the saved file is drawn, not the one on the page.
async function savePng(button) {
  const address = button.closest(".saves").querySelector("a").href;
  const response = await fetch(address, { cache: "no-store" });
  const picture = new Image();
  picture.src = URL.createObjectURL(await response.blob());
  await picture.decode();
  const canvas = document.createElement("canvas");
  canvas.width = picture.naturalWidth * 2;
  canvas.height = picture.naturalHeight * 2;
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save(blob, `${button.dataset.png}.png`), "image/png");
}

async function copy(button) {
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  button.textContent = "Copied";
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) {
    return;
  }
  if (button.dataset.sql !== undefined) {
    putStatement(button.dataset.sql);
    if (button.dataset.run) {
      document.getElementById("ask").requestSubmit(document.getElementById("run"));
    }
  } else if (button.dataset.insert !== undefined) {
    insertText(button.dataset.insert);
  } else if (button.dataset.png !== undefined) {
    savePng(button);
  } else if (button.dataset.copy !== undefined) {
    copy(button);
  } else if (button.id === "cancel") {
    window.htmx.trigger("#ask", "htmx:abort");
  }
});

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target.id !== "result" || !window.querygateEditor) {
    return;
  }
  if (event.target.getBoundingClientRect().top > 0.7 * window.innerHeight) {
    event.target.scrollIntoView(); // on a phone the answer would be below what is seen
  }
  const asked = event.target.querySelector("[data-asked]");
  if (asked) {
    history.replaceState(history.state, "", `?asked=${asked.dataset.asked}`); // for the back button, and to load it again
  }
  const refusal = event.target.querySelector("[data-line]");
  window.querygateEditor.mark(
    refusal && {
      line: Number(refusal.dataset.line),
      column: Number(refusal.dataset.column),
      length: Number(refusal.dataset.length),
      message: refusal.querySelector(".detail").textContent,
    },
  );
});

document.addEventListener("htmx:sendError", () => {
  const told = document.createElement("p");
  told.className = "card refusal";
  told.textContent = "The server could not be reached. Try again.";
  document.getElementById("result").replaceChildren(told);
});

// Work behind the scenes tells by itself how far it is; without this the page asks now and then.
const followed = new Set();
function follow() {
  for (const element of document.querySelectorAll("[data-events]")) {
    if (!window.EventSource || followed.has(element.dataset.events)) {
      continue;
    }
    const address = element.dataset.events;
    followed.add(address);
    const events = new EventSource(address);
    events.addEventListener("job", (event) => {
      const shown = document.querySelector(`[data-events="${address}"]`);
      if (shown) {
        window.htmx.trigger(shown, "changed");
      }
      if (!shown || JSON.parse(event.data).finished !== null) {
        events.close();
      }
    });
  }
}
document.addEventListener("DOMContentLoaded", follow);
document.addEventListener("htmx:afterSettle", follow);
