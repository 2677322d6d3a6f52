// Keep durations up to date while the page is open, in the same format as the server.

const EVERY_MS = 10000;
const rendered = new WeakMap();
let timer;

// The format of the template function `running`.
function inWords(seconds) {
  const [minutes, hours, days] = [60, 3600, 86400].map((unit) => Math.floor(seconds / unit));
  if (!minutes) return `${seconds} s`;
  if (!hours) return `${minutes} min`;
  if (!days) return `${hours} h ${String(minutes % 60).padStart(2, "0")} min`;
  return `${days} day${days > 1 ? "s" : ""} ${hours % 24} h`;
}

// Count from the time of rendering, so that a wrong clock doesn't matter.
function age(element) {
  let start = rendered.get(element);
  if (start?.age !== element.dataset.age) start = { age: element.dataset.age, at: Date.now() };
  rendered.set(element, start);
  return Math.max(0, Math.floor(Number(start.age) + (Date.now() - start.at) / 1000));
}

function count() {
  for (const element of document.querySelectorAll("[data-age]")) {
    const text = inWords(age(element));
    if (element.textContent !== text) element.textContent = text;
  }
}

// Pause in a hidden tab, and catch up when it becomes visible.
function run() {
  clearInterval(timer);
  if (document.hidden) return;
  count();
  timer = setInterval(count, EVERY_MS);
}

document.addEventListener("visibilitychange", run);
for (const change of ["htmx:afterSettle", "pressroom:refreshed"]) document.addEventListener(change, count);
run();
