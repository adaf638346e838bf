// Keys: s, h, a, u label; b or left goes back, n or right goes on. A key that is held down labels once.
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
})();
