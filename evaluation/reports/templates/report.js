// Filters and sorts the questions. The page is complete without it: the controls are hidden until it runs.
"use strict";
(function () {
  const controls = document.getElementById("controls");
  const list = document.getElementById("questions");
  const shown = document.getElementById("shown");
  if (!controls || !list) { return; }
  const questions = Array.from(list.querySelectorAll("details.question"));
  const find = controls.querySelector("#find");
  const kind = controls.querySelector("#kind");
  const arm = controls.querySelector("#arm");
  const outcome = controls.querySelector("#outcome");
  const order = controls.querySelector("#order");
  const texts = new Map();
  function text(question) {
    if (!texts.has(question)) { texts.set(question, question.textContent.toLowerCase()); }
    return texts.get(question);
  }
  function filter() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const question of questions) {
      let answered = false;
      for (const side of question.querySelectorAll("section.side")) {
        side.hidden = Boolean(arm.value) && side.dataset.arm !== arm.value;
        answered = answered || (!side.hidden &&
          (!outcome.value || side.dataset.outcomes.split(" ").includes(outcome.value)));
      }
      const fits = (!kind.value || question.dataset.kind === kind.value) && answered &&
        words.every(function (word) { return text(question).includes(word); });
      question.hidden = !fits;
      count += fits ? 1 : 0;
    }
    shown.textContent = count + " of " + questions.length + " questions";
  }
  function sort() {
    const key = order.value;
    const by = {
      worst: function (a, b) { return a.dataset.worst - b.dataset.worst; },
      fixed: function (a, b) { return b.dataset.fixed - a.dataset.fixed || a.dataset.worst - b.dataset.worst; },
      id: function (a, b) { return a.dataset.id.localeCompare(b.dataset.id, "en", { numeric: true }); }
    }[key];
    questions.sort(by).forEach(function (question) { list.append(question); });
  }
  function reveal() {
    const target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
    if (!target) { return; }
    for (let node = target; node; node = node.parentElement) {
      if (node.localName === "details") { node.open = true; node.hidden = false; }
    }
    target.scrollIntoView();
  }
  controls.hidden = false;
  find.addEventListener("input", filter);
  kind.addEventListener("change", filter);
  arm.addEventListener("change", filter);
  outcome.addEventListener("change", filter);
  order.addEventListener("change", sort);
  window.addEventListener("hashchange", reveal);
  filter();
  reveal();
})();
