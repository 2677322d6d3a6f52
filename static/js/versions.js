// Show the two selected versions beside the button. The form also works without it.

function show() {
  const form = document.querySelector("form[data-versions]");
  if (!form) return;
  form.querySelector("dl[data-chosen]").hidden = false;
  for (const side of ["from", "to"]) {
    const chosen = form.querySelector(`input[name=${side}]:checked`);
    if (chosen) form.querySelector(`[data-chosen=${side}]`).textContent = `Version ${chosen.dataset.number}`;
  }
}

document.addEventListener("change", show);
document.addEventListener("htmx:afterSettle", show);
document.addEventListener("pressroom:refreshed", show);
show(); // the browser may have restored an earlier choice
