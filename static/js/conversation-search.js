// Search in a conversation. The server finds the items with matches, also in closed folds. The script
// marks the matches.
import { narrow, setParam, theThread } from "./conversation-filters.js";
import { fold } from "./text-folding.js";

const marks = globalThis.Highlight ? new Highlight() : null;
if (marks) CSS.highlights.set("matches", marks);
let at = -1;

function showMatches() {
  const matches = document.getElementById("matches")?.dataset;
  narrow();
  for (const place of matches?.calls?.split(" ").filter(Boolean) ?? []) {
    document.getElementById(place).open = true;
  }
  mark();
}

function mark() {
  const words = fold(document.getElementById("matches")?.dataset.words ?? "").text;
  const thread = theThread();
  marks?.clear();
  at = -1;
  if (!words || !thread) return;
  for (const message of thread.querySelectorAll("li.message:not([hidden])")) markIn(message, words);
  const steps = document.querySelector("[data-steps]");
  if (steps) steps.hidden = !marks?.size;
}

// A match may span elements, as in “a **bold** word”.
function markIn(message, words) {
  const nodes = textNodes(message);
  const starts = [];
  let text = "";
  for (const node of nodes) {
    starts.push(text.length);
    text += node.data;
  }
  const folded = fold(text);
  let match = folded.text.indexOf(words);
  for (; match >= 0; match = folded.text.indexOf(words, match + words.length)) {
    const [from, to] = [folded.start(match), folded.end(match + words.length - 1)];
    const first = starts.findLastIndex((start) => start <= from);
    const last = starts.findLastIndex((start) => start < to);
    const range = new Range();
    range.setStart(nodes[first], Math.min(from - starts[first], nodes[first].length));
    range.setEnd(nodes[last], Math.min(to - starts[last], nodes[last].length));
    marks?.add(range);
  }
}

function textNodes(message) {
  const walker = document.createTreeWalker(message, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement.closest("header")) nodes.push(walker.currentNode);
  }
  return nodes;
}

// Remove the matches at once. The request is still sent and returns the page without a search.
export function leaveSearch() {
  const line = document.getElementById("matches");
  if (!line.dataset.words) return;
  delete line.dataset.words;
  line.replaceChildren();
  marks?.clear();
  clearField();
}

function clearField() {
  const field = document.getElementById("q");
  field.value = "";
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function step(by) {
  const ranges = [...(marks ?? [])];
  if (!ranges.length) return;
  at = (at + by + ranges.length) % ranges.length;
  const range = ranges[at];
  const fold = range.startContainer.parentElement.closest("details:not([open])");
  if (fold) fold.open = true;
  range.startContainer.parentElement.scrollIntoView({ block: "center" });
  getSelection().setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
  document.querySelector("[data-place]").textContent = `${at + 1} of ${ranges.length} shown`;
}

// Enter goes to the next match if the typed words were searched; otherwise it searches at once.
document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (!theThread() || field.id !== "q") return;
  // The current match is selected. Further typing goes to the end of the field.
  const isMatchSelected = theThread()?.contains(getSelection().anchorNode);
  if (isMatchSelected) field.setSelectionRange(field.value.length, field.value.length);
  const isSearched = field.value.trim() === document.getElementById("matches").dataset.words;
  if (event.key !== "Enter" || !isSearched || !marks?.size) return;
  event.preventDefault();
  step(event.shiftKey ? -1 : 1);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-step]");
  if (button) step(Number(button.dataset.step));
  const clear = event.target.closest("[data-clear]");
  if (!clear) return;
  event.preventDefault();
  document.getElementById("q").focus();
  clearField();
});

// A fold fetched during a search contains the text around its match.
document.addEventListener("htmx:configRequest", (event) => {
  const words = document.getElementById("matches")?.dataset.words;
  if (words && event.detail.elt.matches("details.fold")) event.detail.parameters.q = words;
});

document.addEventListener("htmx:afterSwap", (event) => {
  // A history restore swaps the page without a target.
  const part = event.detail.target?.id ?? "";
  if (part === "matches") {
    setParam("q", document.getElementById("q").value.trim());
    showMatches();
  } else if (part.endsWith("-in")) mark();
});
document.addEventListener("pressroom:refreshed", narrow); // new messages

document.addEventListener("DOMContentLoaded", showMatches);
