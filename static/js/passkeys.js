// Passkeys: request one from the browser before the form is submitted, and send it along.
// webauthn-json.js converts between JSON and the browser's objects.

const REASONS = {
  NotAllowedError: "No passkey was used. Try again.",
  InvalidStateError: "That device already has a passkey for this account.",
  SecurityError: "Passkeys require https and a host name, not an IP address.",
};

for (const box of document.querySelectorAll("[data-passkey]")) {
  const state = webauthnJSON.supported() ? "on" : "off";
  box.querySelector(`[data-passkey-${state}]`).hidden = false;
}

document.addEventListener("submit", async (event) => {
  const box = event.target.querySelector("[data-passkey]");
  const credential = event.target.elements.credential;
  if (!box || credential.value) return;
  event.preventDefault();
  const error = box.querySelector("[data-passkey-error]");
  error.hidden = true;
  try {
    const response = await webauthnJSON[box.dataset.passkey](JSON.parse(box.dataset.passkeyOptions));
    credential.value = JSON.stringify(response);
    event.target.requestSubmit();
  } catch (failure) {
    error.querySelector("p").textContent = REASONS[failure.name] ?? "Something went wrong. Try again.";
    error.hidden = false;
  }
});

// A page restored from the back/forward cache requests a passkey again.
addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("[data-passkey] [name=credential]")) field.value = "";
});
