// The items of a review (#desk) and the board of a release. Buttons have keyboard shortcuts (data-key). In a review,
// the next items are fetched in advance and shown while the decision is sent. Without scripts, the page reloads.
const ahead = new Map(); // HTML of items fetched in advance, or promises of it, by URL.
let isBusy = false;
const byId = (id) => document.getElementById(id);

// A key that is held down acts once. No key acts while a request is in progress.
document.addEventListener("pressroom:key", (event) => {
  const button = document.querySelector(`main [data-key="${CSS.escape(event.detail)}"]:not([disabled])`);
  if (!button) return;
  event.preventDefault();
  if (button.matches("textarea")) button.focus();
  else if (!event.isRepeated && !isBusy) button.click();
});

async function request(url, target, options = {}) {
  const headers = { "HX-Request": "true", "HX-Target": target, ...options.headers };
  return fetch(url, { ...options, headers, signal: AbortSignal.timeout(30000) });
}
const parse = (html) => new DOMParser().parseFromString(html, "text/html");
async function part(url, target, headers) {
  const response = await request(url, target, { headers });
  if (!response.ok) throw new Error(`${response.status}`);
  return response.text();
}

// Replace elements by those of a response with the same id.
function replaceParts(page, ids = ["desk-top", "review-items", "last", "item"]) {
  for (const id of ids) {
    const wanted = page.getElementById(id);
    if (!wanted || !byId(id)) continue;
    const top = byId(id).scrollTop;
    byId(id).replaceWith(wanted);
    htmx.process(wanted);
    wanted.scrollTop = top;
  }
  byId("review-items")?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("#desk [data-decides]");
  if (!form) return;
  event.preventDefault();
  if (!isBusy) alone(() => decide(form, event.submitter), () => leave(form, event.submitter));
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("#review-items a, #desk [data-goes]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (!isBusy) alone(() => show(link.href), () => location.assign(link.href));
});
async function alone(act, otherwise) {
  isBusy = true;
  await act().catch(otherwise);
  isBusy = false;
}
// If the script fails, submit the form without it, so that no text is lost. The form may have been replaced by now.
function leave(form, submitter) {
  const { name, value } = submitter ?? {};
  if (name) form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  if (!form.isConnected) document.body.append(form);
  form.submit();
}

// Show the next item while the decision is sent, if it was fetched in advance.
async function decide(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  const sent = request(form.action, "around", { method: "POST", body });
  const [next] = form.dataset.decides === "here" ? [] : nextPaths();
  const isShown = typeof ahead.get(next) === "string";
  if (isShown) showItem(ahead.get(next));
  const response = await sent;
  if (!response.ok && response.status !== 422) throw new Error(`${response.status}`);
  const page = parse(await response.text());
  if (response.status === 422) return refused(page);
  document.dispatchEvent(new CustomEvent("pressroom:sent", { detail: form }));
  await show(response.headers.get("X-Next") ?? response.url, page, isShown ? next : "");
}
function refused(page) {
  replaceParts(page);
  showOpened();
  byId("desk").querySelector("[data-autofocus]")?.focus();
}
// Open the form that was refused, or that was saved until the user signed in again. Its button places it.
function showOpened() {
  const form = document.querySelector("#desk form[data-opened]");
  if (form) document.querySelector(`[popovertarget="${form.id}"]`).click();
}

function showItem(html) {
  replaceParts(parse(html), ["item"]);
  scrollTo(0, 0); // on a phone, the page itself scrolls
  byId("item-h").focus({ preventScroll: true });
}
async function show(url, around, shownPath = "") {
  const path = new URL(url, location).href;
  if (around && !around.getElementById("review-items")) throw new Error("no desk"); // e.g. the sign-in page
  if (!/\/review\/\d+\/\d+\//.test(path)) return location.assign(path);
  const [item, rest] = await Promise.all([
    Promise.resolve(ahead.get(path)).catch(() => null).then((html) => html ?? part(path, "item")),
    around ?? part(path, "around").then(parse),
  ]);
  ahead.delete(path);
  replaceParts(rest, ["desk-top", "review-items", "last"]);
  if (path !== shownPath) showItem(item);
  // htmx restores only history entries with this mark.
  history.replaceState({ htmx: true }, "", location.href);
  if (path !== location.href) history.pushState({ htmx: true }, "", path);
  const { title } = byId("item").dataset;
  document.title = title;
  byId("desk-announcement").textContent = `${byId("last").innerText.split("\n")[0]} ${title.split(" · ")[0]}`;
  document.dispatchEvent(new CustomEvent("pressroom:refreshed"));
  fetchAhead();
}

// Fetch the next two items without claiming them. Fetch them again when the feed reports a change.
const nextPaths = () => {
  const urls = (byId("review-items")?.dataset.next ?? "").split(" ").filter(Boolean);
  return urls.map((url) => new URL(url, location).href);
};
function fetchAhead() {
  const paths = nextPaths();
  for (const path of [...ahead.keys()]) if (!paths.includes(path)) ahead.delete(path);
  for (const path of paths) {
    if (ahead.has(path)) continue;
    const html = part(path, "item", { "X-Background": "1" });
    ahead.set(path, html);
    html.then((text) => ahead.get(path) === html && ahead.set(path, text), () => ahead.delete(path));
  }
}
document.addEventListener("pressroom:topics", async ({ detail: topics }) => {
  for (const [path, html] of [...ahead]) {
    const text = await Promise.resolve(html).catch(() => "");
    const topic = parse(text).getElementById("item")?.dataset.topic;
    if (!topic || topics.some((name) => name === "*" || name === topic)) ahead.delete(path);
  }
  fetchAhead();
});
if (byId("desk")) fetchAhead();
showOpened();

// On the board: mark the displayed version in the list, and scroll both into view.
document.addEventListener("htmx:afterSettle", () => {
  const detail = byId("detail");
  const entries = document.querySelector(".entries");
  const marked = entries?.querySelector("[aria-current]");
  const wanted = entries?.querySelector(`#item-${detail?.dataset.item} > a`);
  if (!wanted || marked === wanted) return;
  marked?.removeAttribute("aria-current");
  wanted.setAttribute("aria-current", "true");
  const isBeside = detail.getBoundingClientRect().left > wanted.getBoundingClientRect().left;
  if (isBeside) wanted.scrollIntoView({ block: "nearest" });
  else detail.scrollIntoView({ block: "start" });
});
