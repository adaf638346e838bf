// The official openai package for Node against a live server: node openai_client.mjs URL MODEL QUESTION [KEY]
// (in a folder where `npm install openai` was run). Says what it tried; ends with 1 at the first thing that is wrong.
import assert from "node:assert/strict";
import OpenAI from "openai";

const [url, model, question, key] = process.argv.slice(2);
const client = new OpenAI({ baseURL: url, apiKey: key ?? "none", maxRetries: 0, timeout: 300_000 });
const asked = { model, messages: [{ role: "user", content: question }], seed: 1 };
const say = (...words) => console.log("ok  ", ...words);

const refused = async (promise, status) => {
  try {
    await promise;
  } catch (error) {
    assert.equal(error.status, status, `${error}`);
    return error;
  }
  assert.fail(`expected ${status}, and it went through`);
};

const active = async () => {
  const response = await fetch(url.replace(/\/v1$/, "/metrics"), { headers: { Authorization: `Bearer ${key}` } });
  const line = (await response.text()).split("\n").find((text) => text.startsWith("plumbline_requests_active "));
  return Number(line.split(" ")[1]);
};

const listed = [];
for await (const entry of client.models.list()) listed.push(entry.id);
assert.ok(listed.includes(model));
say("models:", listed.join(", "));

const reply = await client.chat.completions.create(asked);
const text = reply.choices[0].message.content;
assert.ok(text);
assert.ok(reply.sources.length);
say("chat:", JSON.stringify(text), `${reply.usage.total_tokens} tokens`);

let streamed = "";
let usage = null;
for await (const chunk of await client.chat.completions.create({
  ...asked, stream: true, stream_options: { include_usage: true },
})) {
  streamed += chunk.choices.map((choice) => choice.delta.content ?? "").join("");
  usage = chunk.usage ?? usage;
}
assert.equal(streamed, text);
assert.ok(usage.total_tokens);
say("stream:", JSON.stringify(streamed));

const left = await client.chat.completions.create({ ...asked, stream: true, n: 8, temperature: 1 });
for await (const _ of left) break;
left.controller.abort();
const begun = Date.now();
while (await active()) assert.ok(Date.now() - begun < 60_000, "a query that nobody reads is still worked on");
say("cancelled in mid-stream: its place was free after", Date.now() - begun, "ms");

for (const [name, fields] of [["temperature", { temperature: 9 }], ["tools", { tools: [{ type: "function", function: { name: "f" } }] }]]) {
  const error = await refused(client.chat.completions.create({ ...asked, ...fields }), 400);
  assert.equal(error.param, name);
}
await refused(client.chat.completions.create({ ...asked, model: "no-such-model" }), 404);
say("bad parameters are refused by name");

if (key) {
  const stranger = new OpenAI({ baseURL: url, apiKey: "pl-wrong", maxRetries: 0 });
  await refused(stranger.chat.completions.create(asked), 401);
  say("wrong key: 401");
}

const patient = new OpenAI({ baseURL: url, apiKey: key ?? "none", timeout: 600_000 });
const many = await Promise.all(
  Array.from({ length: 100 }, (_, seed) =>
    patient.chat.completions.create({ ...asked, seed, temperature: 1, max_tokens: 8 })),
);
assert.ok(many.every((one) => one.choices[0].message.content));
say("100 at once:", new Set(many.map((one) => one.choices[0].message.content)).size, "different answers");
