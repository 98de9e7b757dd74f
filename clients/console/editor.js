// The editor of SQL, or of a policy, over the page's own text field, which stays what is sent.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { PostgreSQL, sql } from "@codemirror/lang-sql";
import { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--warn)" },
  { tag: tags.number, color: "var(--warn)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
]);

const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "transparent", fontSize: ".9rem" },
  ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--ink)", minHeight: "7.5rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--soft)", border: "0" },
  "&.cm-focused": { outline: "none" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--warn)" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--ink)", border: "1px solid var(--line)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { maxHeight: "none", overflow: "hidden" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--accent-ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent)",
  },
});

function columnCompletions(words) {
  const options = [
    ...Object.entries(words.columns).map(([label, detail]) => ({ label, detail, type: "property", boost: 2 })),
    ...words.functions.map((label) => ({ label, apply: `${label}(`, type: "function" })),
  ];
  return (context) => {
    const word = context.matchBefore(/[\w"]+/);
    return word || context.explicit ? { from: word ? word.from : context.pos, options, validFor: /^[\w"]*$/ } : null;
  };
}

// Where text is typed over a selection, Chromium puts it into an element with the look of what was there, as a style that
// the page's rules forbid. So the editor replaces it itself.
const typeOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || !event.data || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type" });
    return true;
  },
});

function run() {
  document.getElementById("ask").requestSubmit(document.getElementById("run"));
  return true;
}

// What is written: SQL with the columns of a dataset, which Ctrl+Enter runs, or TOML.
function languageOf(field) {
  if (field.id === "policy") {
    return [StreamLanguage.define(toml)];
  }
  const language = sql({ dialect: PostgreSQL, upperCaseKeywords: true });
  const words = JSON.parse(field.dataset.words);
  return [
    keymap.of([{ key: "Mod-Enter", run, preventDefault: true }]),
    language,
    language.language.data.of({ autocomplete: columnCompletions(words) }),
  ];
}

function makeEditor(field) {
  const nonce = document.querySelector("meta[name=csp-nonce]").content;
  const view = new EditorView({
    state: EditorState.create({
      doc: field.value,
      extensions: [
        EditorView.cspNonce.of(nonce),
        languageOf(field),
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ maxRenderedOptions: 8 }), // a list that scrolls could not be reached by keyboard
        syntaxHighlighting(colours),
        look,
        typeOver,
        EditorView.lineWrapping,
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({
          "aria-label": field.id === "policy" ? "Policy" : "SQL",
          tabindex: "0", // what scrolls is reached by keyboard
          spellcheck: "false",
          autocapitalize: "off",
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) field.value = update.state.doc.toString();
        }),
      ],
    }),
  });
  const place = document.createElement("div");
  place.className = "editor";
  place.append(view.dom);
  field.hidden = true;
  field.required = false; // a field that is hidden cannot say that it is empty; the gate does
  field.before(place);
  return view;
}

const field = document.getElementById("sql") || document.getElementById("policy");
if (field) {
  const view = makeEditor(field);
  window.querygateEditor = {
    replace(text) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      view.focus();
    },
    insert(text) {
      view.dispatch(view.state.replaceSelection(text));
      view.focus();
    },
    // A refusal is underlined at its place; null takes the line away.
    mark(span) {
      const doc = view.state.doc;
      if (!span || span.line > doc.lines) return view.dispatch(setDiagnostics(view.state, []));
      const line = doc.line(span.line);
      const from = Math.min(line.from + span.column - 1, line.to);
      const to = Math.min(from + Math.max(span.length, 1), doc.length);
      view.dispatch(setDiagnostics(view.state, [{ from, to, severity: "error", message: span.message }]));
    },
    // Lines with something wrong, each with what it is.
    markLines(found) {
      const doc = view.state.doc;
      const marks = found
        .filter((one) => one.line >= 1 && one.line <= doc.lines)
        .map((one) => ({ from: doc.line(one.line).from, to: doc.line(one.line).to, severity: "error", message: one.message }));
      view.dispatch(setDiagnostics(view.state, marks));
    },
  };
  const wrong = [...document.querySelectorAll("[data-wrong-line]")].map((element) => ({
    line: Number(element.dataset.wrongLine),
    message: element.textContent,
  }));
  if (wrong.length) {
    window.querygateEditor.markLines(wrong);
  }
}
