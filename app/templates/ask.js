// The Ask page with streaming: POST /v1/query as a stream, with the earlier turns as history. Text is inserted
// as text, never as HTML.
"use strict";

(() => {
  const form = document.getElementById("ask");
  const conversation = document.getElementById("conversation");
  const status = document.getElementById("status");
  const problem = document.getElementById("problem");
  const stop = document.getElementById("stop");
  const fresh = document.getElementById("fresh");
  const question = document.getElementById("question");
  const MOST_TURNS = 6; // of history sent with a question
  let running = null;
  let asked = 0;
  let history = [];

  const element = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const column = (columns, title, retrieval) => {
    const side = `a${asked}-${retrieval ? "rag" : "alone"}`;
    const section = element("section");
    const heading = element("h2", "", title);
    heading.id = `${side}-title`;
    section.setAttribute("aria-labelledby", heading.id);
    const answer = element("p", "answer busy");
    const notes = element("div");
    const sources = element("div");
    section.append(heading, answer, notes, sources);
    columns.append(section);
    return { side, answer, notes, sources, text: "", shown: [], answers: null };
  };

  // The text in segments, split at citations and at the ends of unsupported claims.
  const pieces = (text, annotations, verdicts) => {
    const bad = verdicts.filter((v) => v.label === "unverifiable" || v.label === "contradicted");
    const cuts = new Set([0, text.length]);
    for (const span of [...annotations, ...bad]) { cuts.add(span.start); cuts.add(span.end); }
    const places = [...cuts].sort((a, b) => a - b);
    const inside = (spans, start, end) => spans.find((s) => s.start <= start && end <= s.end);
    return places.slice(1).map((end, i) => ({
      text: text.slice(places[i], end),
      number: inside(annotations, places[i], end)?.number,
      unsupported: Boolean(inside(bad, places[i], end)),
    }));
  };

  // Offsets count characters, as Python does; a JavaScript string counts UTF-16 units.
  const units = (text, spans) => {
    const at = [0];
    for (const character of text) at.push(at[at.length - 1] + character.length);
    return spans.map((s) => ({ ...s, start: at[s.start], end: at[s.end] }));
  };

  const showAnswer = (into, answer, verdicts) => {
    into.answer.replaceChildren();
    const cited = units(answer.text, answer.annotations);
    for (const piece of pieces(answer.text, cited, units(answer.text, verdicts))) {
      let node = document.createTextNode(piece.text);
      if (piece.number) {
        node = element("a", "", piece.text);
        node.href = `#${into.side}-source-${piece.number}`;
        node.addEventListener("click", () => { const list = into.sources.querySelector("details"); if (list) list.open = true; });
      }
      if (piece.unsupported) {
        const mark = element("mark", "unsupported");
        mark.append(node, element("span", "hidden", " (not supported by the documents)"));
        node = mark;
      }
      into.answer.append(node);
    }
  };

  const quotedSpan = (source, answer, verdicts) => {
    const said = answer.text.replace(/\s*\[\d+\]/g, "").replace(/^[ .\n]+|[ .\n]+$/g, "");
    const cites = answer.annotations.some((a) => a.number === source.number);
    // Empty for sources that an answer with citations does not cite, even if they were evidence.
    if (answer.annotations.length && !cites) return null;
    if (said.length >= 3 && cites) {
      const start = source.text.toLowerCase().indexOf(said.toLowerCase());
      if (start >= 0) return [start, start + said.length];
    }
    for (const verdict of verdicts.filter((v) => v.label === "supported")) {
      for (const evidence of verdict.evidence) {
        const span = { start: evidence.start - source.start, end: evidence.end - source.start };
        const characters = [...source.text].length;
        if (evidence.document_id !== source.document_id || span.start < 0 || span.end > characters) continue;
        const [place] = units(source.text, [span]);
        return [place.start, place.end];
      }
    }
    return null;
  };

  const showSources = (into, answer, verdicts) => {
    const open = into.sources.querySelector("details")?.open ?? false;
    into.sources.replaceChildren();
    if (!into.shown.length) return;
    const list = element("details");
    list.open = open;
    const cited = new Set(answer ? answer.annotations.map((a) => a.number) : []);
    const count = into.shown.filter((source) => cited.has(source.number)).length;
    list.append(element("summary", "", `Sources (${into.shown.length}${answer ? `, ${count} cited` : ""})`));
    for (const source of into.shown) {
      const box = element("section", cited.has(source.number) ? "source cited" : "source");
      if (source.number) box.id = `${into.side}-source-${source.number}`;
      const name = `${source.number ? `[${source.number}] ` : ""}${source.title || source.document_id}`;
      const fate = source.number ? (cited.has(source.number) ? "; cited" : "") : "; did not fit the model's context";
      const where = source.place || `characters ${source.start} to ${source.end}`;
      const place = ` ${source.document_id}, ${where}${fate}`;
      const text = element("p");
      const span = answer ? quotedSpan(source, answer, verdicts) : null;
      if (span) {
        text.append(source.text.slice(0, span[0]));
        text.append(element("mark", "quoted", source.text.slice(...span)), source.text.slice(span[1]));
      } else {
        text.append(source.text);
      }
      box.append(element("strong", "", name), element("span", "soft", place), text);
      list.append(box);
    }
    into.sources.append(list);
  };

  const seconds = (value) => `${value.toFixed(2)} s`;

  const heard = {
    sources: (into, data) => {
      into.shown = data.sources;
      into.model = data.model;
      showSources(into, null, []);
      if (data.collection && !data.sources.length) {
        into.notes.append(element("p", "soft", `Nothing was found in ${data.collection}.`));
      }
    },
    text: (into, data) => {
      into.text += data.text;
      into.answer.textContent = into.text;
    },
    answers: (into, data) => {
      [into.answers] = data.answers;
      into.answer.classList.remove("busy");
      showAnswer(into, into.answers, []);
      showSources(into, into.answers, []);
    },
    verdicts: (into, data) => {
      const [judged] = data.answers;
      showAnswer(into, into.answers, judged.verdicts);
      showSources(into, into.answers, judged.verdicts);
      if (judged.verdicts.length) {
        const list = element("ul", "verdicts");
        for (const verdict of judged.verdicts) {
          const support = verdict.support === null ? verdict.reason : verdict.support.toFixed(2);
          list.append(element("li", "soft", `${verdict.label} (${support}): “${verdict.text}”`));
        }
        into.notes.append(list);
      }
      into.outcome = judged.outcome;
    },
    done: (into, data) => {
      const t = data.timings;
      const reason = into.answers.finish_reason;
      if (reason !== "stop") into.notes.append(element("p", "soft", `The answer was cut short (${reason}).`));
      const parts = [into.model, into.outcome].filter(Boolean);
      const times = [["retrieval", t.retrieval_s], ["first text", t.first_token_s], ["generation", t.generation_s],
        ["verification", t.verification_s]].filter(([, value]) => value !== null);
      parts.push(times.map(([name, value]) => `${name} ${seconds(value)}`).join(", "));
      const details = element("details", "soft");
      details.append(element("summary", "", "Details"), element("p", "", parts.join("; ")));
      into.sources.after(details);
    },
    error: (into, data) => { throw new Error(data.error.message); },
  };

  const listen = async (into, response) => {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      buffer += value;
      const events = buffer.split("\n\n");
      buffer = events.pop();
      for (const text of events) {
        const name = /^event: (.*)$/m.exec(text)?.[1];
        const data = /^data: (.*)$/m.exec(text)?.[1];
        if (name && data && heard[name]) heard[name](into, JSON.parse(data));
      }
    }
    if (!into.answers) throw new Error("the answer was interrupted: try again");
  };

  const query = async (into, body, signal) => {
    try {
      const response = await fetch(new URL("v1/query", document.getElementById("ask").action), {
        method: "POST", signal, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error((await response.json()).error.message);
      await listen(into, response);
    } finally {
      into.answer.classList.remove("busy");
    }
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    running?.abort();
    const mine = new AbortController();
    running = mine;
    asked += 1;
    problem.replaceChildren();
    const way = form.elements.retrieval.value;
    const ways = way === "both" ? [true, false] : [way === "on"];
    const text = question.value;
    const body = { question: text, verify: form.elements.verify.checked, stream: true, history: history.slice(-MOST_TURNS) };
    if (form.elements.collection) body.collection = form.elements.collection.value;
    else body.verify = false;
    const turn = element("section", "turn");
    turn.setAttribute("aria-label", `Turn ${conversation.childElementCount + 1}`);
    const columns = element("div", "columns");
    turn.append(element("p", "question", text), columns);
    conversation.append(turn);
    question.value = "";
    stop.hidden = false;
    status.textContent = "Answering …";
    const asks = ways.map((retrieval) => {
      const into = column(columns, retrieval ? "From the documents" : "The model alone", retrieval);
      return query(into, { ...body, retrieval }, mine.signal).then(() => into.answers.text);
    });
    turn.scrollIntoView({ block: "start", behavior: "smooth" });
    const ends = await Promise.allSettled(asks);
    if (running !== mine) return;
    running = null;
    stop.hidden = true;
    fresh.hidden = false;
    const failed = ends.find((end) => end.status === "rejected");
    if (mine.signal.aborted) {
      status.textContent = "Stopped.";
      columns.append(element("p", "soft", "Stopped."));
    } else if (failed) {
      status.textContent = "";
      turn.remove();
      if (!question.value) question.value = text;
      problem.append(element("p", "", failed.reason.message));
    } else {
      const answers = [...columns.querySelectorAll(".answer")].map((answer) => answer.textContent);
      status.textContent = `Answered: ${answers.join(" · ")}`;
      history.push({ question: text, answer: ends[0].value });
    }
  });

  fresh.addEventListener("click", () => {
    running?.abort();
    running = null;
    history = [];
    conversation.replaceChildren();
    problem.replaceChildren();
    status.textContent = "";
    stop.hidden = true;
    fresh.hidden = true;
    question.focus();
  });
  stop.addEventListener("click", () => { running?.abort(); question.focus(); });
  question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
})();
