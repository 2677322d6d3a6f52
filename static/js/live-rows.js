// How an open list changes in place: rows (data-rows marks their list) are never added, removed or moved.
// Instead, a line above them shows how many have changed, and loads them.
import { patch } from "./morph.js";

const FRESH_MS = 10000;
const NAMED_ROWS = 3;

export const rowsOf = (region) => [...region.querySelectorAll("[data-rows] > [id]:not(#more, #rows)")];

// Returns what to announce.
export function patchRegion(region, wanted) {
  const announced = () => [...region.querySelectorAll("[data-announced]")];
  const before = announced().map(facts);
  const [rows, next] = [region, wanted].map(rowsOf);
  const left = wanted.querySelector("[data-left]"); // rows on the screen that have left the list
  const nextById = new Map([...(left?.children ?? []), ...next].map((row) => [row.id, row]));
  left?.remove();
  const changes = rows.map((row) => [row, change(row, nextById.get(row.id))]).filter(([, text]) => text);
  const waiting = countWaiting(rows, next);
  const [lists, nextLists] = [region, wanted].map((part) => [...part.querySelectorAll("[data-rows]")]);
  if (lists.map(({ id }) => id).join() === nextLists.map(({ id }) => id).join()) {
    lists.forEach((list, place) => keepRows(list, nextLists[place], nextById));
    patch(region, wanted);
  } else {
    for (const row of rows) if (nextById.has(row.id)) patch(row, nextById.get(row.id));
  }
  const line = region.querySelector("[data-waiting]") ?? document.querySelector(`[data-waiting="${region.id}"]`);
  const waitingText = waiting && line ? `${waiting} changed or new.` : "";
  line?.toggleAttribute("data-empty", !waiting);
  line?.firstElementChild.replaceChildren(waitingText);
  for (const [row] of changes) row.dataset.fresh = "";
  setTimeout(() => changes.forEach(([row]) => delete row.dataset.fresh), FRESH_MS);
  const texts = announced().filter((part, place) => facts(part) !== before[place]).map(words).filter(Boolean);
  const named = changes.length > NAMED_ROWS ? [`${changes.length} rows updated.`] : changes.map(([, text]) => text);
  return [...texts.map(sentence), ...named, ...(waitingText ? [waitingText] : [])];
}

const sentence = (text) => (text.endsWith(".") ? text : `${text}.`);

// A list shows a window: a new row pushes another out, so the two count once. So does a row in another list.
function countWaiting(rows, next) {
  const [before, after] = [rows, next].map((part) => new Set(part.map((row) => `${row.parentElement.id} ${row.id}`)));
  const missing = (keys, others) => [...keys].filter((key) => !others.has(key)).length;
  return Math.max(missing(before, after), missing(after, before));
}

// Keeps the rows on the screen in their order, with their new content. Headings come from the response.
function keepRows(list, wanted, nextById) {
  const headings = [...wanted.children].filter((row) => !row.id);
  const next = (row) => (row.id ? nextById.get(row.id) : row.tagName && headings.shift()) ?? row.cloneNode(true);
  wanted.replaceChildren(...[...list.childNodes].map(next));
}

// The text of a part, without ages, visitors and recent acts.
function words(part) {
  const copy = part.cloneNode(true);
  for (const age of copy.querySelectorAll("[data-age], [data-live], [data-was]")) age.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
}

// The text to compare: a moment reads differently on another day and in another time zone.
function facts(part) {
  const copy = part.cloneNode(true);
  for (const time of copy.querySelectorAll("time")) time.textContent = time.dateTime;
  return words(copy);
}

// Returns the name of the row and its new cells, or who has changed it; "" if its facts are the same.
function change(row, next) {
  if (!next || facts(row) === facts(next)) return "";
  const cells = (part) => [...(part.querySelector("summary") ?? part).children];
  const before = new Set(cells(row).map(facts));
  const news = cells(next).filter((cell) => !before.has(facts(cell)));
  const was = next.querySelector("[data-was]")?.dataset.was;
  const name = words(row.querySelector("th a, summary b, a") ?? row.firstElementChild);
  return `${name}: ${was ?? news.map(words).join(", ")}.`;
}
