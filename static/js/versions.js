// Says beside the button which two versions are chosen. Without it the form works as it stands.

const form = document.querySelector("form[data-versions]");

function show() {
  for (const side of ["from", "to"]) {
    const chosen = form.querySelector(`input[name=${side}]:checked`);
    if (chosen) form.querySelector(`[data-chosen=${side}]`).textContent = `Version ${chosen.dataset.number}`;
  }
}

if (form) {
  form.querySelector("dl[data-chosen]").hidden = false;
  form.addEventListener("change", show);
  show(); // the browser may have kept an earlier choice
}
