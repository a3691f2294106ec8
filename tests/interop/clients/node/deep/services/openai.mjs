import OpenAI, { toFile } from "openai";
import { run } from "../../lib/harness.mjs";

const openai = new OpenAI({ apiKey: "sk-test", maxRetries: 0 });
const messages = (content) => ({ model: "any", messages: [{ role: "user", content }] });

await run({
  completion: () => openai.chat.completions.create(messages("hi")),
  stream: async () => {
    const parts = [];
    for await (const part of await openai.chat.completions.create({ ...messages("hi"), stream: true })) {
      parts.push(part.choices[0].delta.content);
    }
    return parts;
  },
  "stream cancelled": async () => {
    for await (const part of await openai.chat.completions.create({ ...messages("hi"), stream: true })) {
      return part.choices[0].delta.content;
    }
  },
  retry: () => openai.chat.completions.create(messages("flaky"), { maxRetries: 2 }),
  upload: async () =>
    (await openai.files.create({ purpose: "assistants", file: await toFile(Buffer.from("contents"), "a.txt") })).id,
  models: async () => (await openai.models.list()).data,
  "status 404": () => openai.get("/nothing"),
  "raw response": async () => (await openai.models.list().asResponse()).status,
  "cancelled at once": () => openai.models.list({ signal: AbortSignal.abort() }),
});
