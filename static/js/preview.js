// A preview. Its switches are part of the URL, and of the links and the form beside them. A picture that
// doesn't load becomes a finding.
function withSwitches(address, form) {
  const url = new URL(address, location);
  for (const name of ["width", "hide"]) {
    url.searchParams.delete(name);
    for (const value of new FormData(form).getAll(name)) url.searchParams.append(name, value);
  }
  return url;
}

document.addEventListener("change", ({ target }) => {
  const form = target.closest("[data-preview]");
  if (!form) return;
  history.replaceState(history.state, "", withSwitches(location, form));
  for (const link of form.parentElement.querySelectorAll("a[href^='?']")) link.href = withSwitches(link.href, form).search;
  for (const other of form.parentElement.querySelectorAll("form[action]")) other.action = location;
});

function report(image) {
  image.alt ||= "Picture doesn’t load"; // without any text, its place would be blank
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
