// Keys: s, h, a, u label; b or left: back; n or right: next. A key that is held down labels once.
// The controls announce their keys (aria-keyshortcuts) only once this script has made the keys work.
(() => {
  "use strict";
  let sent = false;
  const form = document.getElementById("label-form");
  if (form) form.addEventListener("submit", (event) => { if (sent) event.preventDefault(); sent = true; });
  const follow = (id) => { const link = document.getElementById(id); if (link) link.click(); };
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === "b" || event.key === "ArrowLeft") return follow("back");
    if (key === "n" || event.key === "ArrowRight") return follow("next");
    const button = form && form.querySelector(`button[data-key="${CSS.escape(key)}"]`);
    if (button && !sent) button.click();
  });
  window.addEventListener("pageshow", () => { sent = false; });
  const say = (control, keys) => { if (control) control.setAttribute("aria-keyshortcuts", keys); };
  say(document.getElementById("back"), "b ArrowLeft");
  say(document.getElementById("next"), "n ArrowRight");
  if (form) for (const button of form.querySelectorAll("button[data-key]")) say(button, button.dataset.key);
})();
