// People: open a person beside the list by mouse or keyboard, and show the progress of an export.
// Without scripts, the links lead to separate pages.

const panel = () => document.getElementById("person");
const rowLinks = () => [...document.querySelectorAll("#rows a[hx-get]")];
// The list from which a person was opened. Back returns to it without a request if it still exists.
let listBefore = null;
const isOverList = () => listBefore !== null && listBefore.rows === document.getElementById("rows");

// Mark the row of the open person. The rest of the list stays.
function markRow() {
  if (!panel()) return;
  const open = panel().dataset.url;
  for (const link of rowLinks()) {
    const isOpen = link.getAttribute("href") === open;
    link.closest("tr").classList.toggle("selected", isOpen);
    if (isOpen) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

// Close a person that was opened here by going back. Links within the page are history entries, too.
function closePerson() {
  if (isOverList() && !location.hash) {
    history.back();
    return;
  }
  const close = panel().querySelector("[data-close-person]");
  history.replaceState(history.state, "", isOverList() ? listBefore.url : close.href);
  hidePerson();
}

function hidePerson() {
  const link = rowLinks().find((row) => row.getAttribute("href") === panel().dataset.url);
  panel().hidden = true;
  delete panel().dataset.url;
  panel().replaceChildren();
  markRow();
  updateRefreshLink();
  (link ?? document.getElementById("people-q")).focus();
}

// Let the refresh link load the displayed URL.
function updateRefreshLink() {
  const refresh = panel() && document.querySelector("[data-refresh]");
  if (refresh) refresh.href = location.href;
}

document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target?.id !== "person" || !panel().hidden) return;
  listBefore = { url: location.href, rows: document.getElementById("rows") };
});
// On Back, before htmx requests the page.
document.addEventListener("htmx:historyCacheMiss", (event) => {
  if (!panel() || panel().hidden || !isOverList()) return;
  if (location.href !== listBefore.url) return;
  event.preventDefault();
  hidePerson();
});
document.addEventListener("htmx:afterSettle", markRow);
// If the page opens with a person, scroll to their row.
const showRow = () => document.querySelector("#rows tr.selected")?.scrollIntoView({ block: "nearest" });
document.addEventListener("DOMContentLoaded", showRow);
document.addEventListener("htmx:historyRestore", showRow);
for (const moved of ["htmx:pushedIntoHistory", "htmx:replacedInHistory"]) {
  document.addEventListener(moved, updateRefreshLink);
}

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = event.target.closest("[data-close-person], a[data-export]");
  if (!link) return;
  event.preventDefault();
  if (link.matches("[data-export]")) save(link);
  else closePerson();
});
document.addEventListener("keydown", (event) => {
  const isElsewhere = event.target.closest?.("input, textarea, select, dialog, [popover]");
  if (event.key !== "Escape" || isElsewhere || !panel() || panel().hidden) return;
  if (document.querySelector(":modal, :popover-open")) return;
  closePerson();
});

// Save an export when it is complete; until then show the number of rows received.
async function save(link) {
  if (link.getAttribute("aria-disabled")) return;
  const line = document.getElementById("people-saved");
  const format = (count) => Number(count).toLocaleString("en-GB");
  const total = format(link.dataset.total);
  link.setAttribute("aria-disabled", "true");
  line.textContent = `Exporting ${total}…`;
  try {
    const response = await fetch(link.href);
    if (!response.headers.get("content-type")?.startsWith("text/csv")) {
      location.assign(link.href); // an error page
      return;
    }
    const { pieces, rows } = await read(response, (done) => {
      line.textContent = `Exported ${format(done)} of ${total}…`;
    });
    const table = new Blob(pieces, { type: "text/csv" });
    download(table, nameOf(response));
    line.textContent = (await isWhole(table))
      ? `Saved ${format(rows)} rows`
      : "Incomplete: see the last line of the file";
  } catch {
    line.textContent = "Export failed. Try again.";
  }
  link.removeAttribute("aria-disabled");
}

async function read(response, onProgress) {
  const pieces = [];
  let rows = -1; // the first line is the header
  let isQuoted = false;
  let reportedAt = Date.now();
  const reader = response.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    pieces.push(part.value);
    for (const byte of part.value) {
      if (byte === 34) isQuoted = !isQuoted;
      else if (byte === 10 && !isQuoted) rows += 1;
    }
    if (Date.now() - reportedAt < 500) continue;
    reportedAt = Date.now();
    onProgress(Math.max(rows, 0));
  }
  return { pieces, rows };
}

// The last line of an incomplete file explains what is missing.
async function isWhole(table) {
  const end = await table.slice(-2000).text();
  return !/^"?(Incomplete, |Unreadable, not exported)/m.test(end);
}

function nameOf(response) {
  return /filename="([^"]+)"/.exec(response.headers.get("content-disposition"))?.[1] ?? "people.csv";
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
