// A preview. Its width is part of the URL. A picture that doesn't load becomes a finding.
document.addEventListener("change", ({ target }) => {
  if (target.name !== "width" || !target.closest("[data-preview]")) return;
  const url = new URL(location);
  url.searchParams.set("width", target.value);
  history.replaceState(history.state, "", url);
});

function report(image) {
  const row = document.querySelector(`[data-picture="${CSS.escape(image.getAttribute("src"))}"][hidden]`);
  if (!row) return;
  row.hidden = false;
  const count = document.querySelector("[data-findings]");
  count.textContent = Number(count.textContent) + 1;
}
const selector = "#preview img";
document.addEventListener("error", ({ target }) => target.matches?.(selector) && report(target), true);
for (const image of document.querySelectorAll(selector)) {
  if (image.complete && !image.naturalWidth) report(image);
}
