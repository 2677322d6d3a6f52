// Move a column in the form without a request; without scripts, each button submits the form.
document.addEventListener("click", (event) => {
  const button = event.target.closest("form[data-columns] button[name=move]");
  if (!button) return;
  event.preventDefault();
  const row = button.closest("li");
  if (button.value.endsWith("-up")) row.previousElementSibling?.before(row);
  else row.nextElementSibling?.after(row);
  button.focus();
  const rows = [...row.parentElement.children];
  const label = row.querySelector("label").textContent.trim();
  button.form.querySelector("[role=status]").textContent = `${label}: ${rows.indexOf(row) + 1} of ${rows.length}`;
});
