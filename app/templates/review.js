// Keys outside the text fields press the button that shows them; a key that is held down presses once.
(() => {
  "use strict";
  const form = document.getElementById("label-form");
  if (!form) return;
  let sent = false;
  form.addEventListener("submit", (event) => { if (sent) event.preventDefault(); sent = true; });
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea")) return;
    const button = form.querySelector(`button[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (button && !sent) button.click();
  });
  window.addEventListener("pageshow", () => { sent = false; });
  for (const button of form.querySelectorAll("button[data-key]")) button.setAttribute("aria-keyshortcuts", button.dataset.key);
})();
