import Anthropic from "@anthropic-ai/sdk";
import { run } from "../../lib/harness.mjs";

const anthropic = new Anthropic({ apiKey: "sk-test", maxRetries: 0 });
const message = (content) => ({ model: "any", max_tokens: 10, messages: [{ role: "user", content }] });

await run({
  message: () => anthropic.messages.create(message("hi")),
  stream: async () => {
    const types = [];
    for await (const event of await anthropic.messages.create({ ...message("hi"), stream: true })) {
      types.push(event.type);
    }
    return types;
  },
  "stream helper": async () => {
    const texts = [];
    const stream = anthropic.messages.stream(message("hi")).on("text", (text) => texts.push(text));
    return [(await stream.finalMessage()).content[0].text, texts];
  },
  retry: () => anthropic.messages.create(message("flaky"), { maxRetries: 2 }),
  "status 400": () => anthropic.messages.create(message("wrong")),
  "cancelled at once": () => anthropic.messages.create(message("hi"), { signal: AbortSignal.abort() }),
});
