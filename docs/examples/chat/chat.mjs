// A page that streams the answer of a language model.
import { readFileSync } from "node:fs";
import http from "node:http";

const PAGE = readFileSync(new URL("page.html", import.meta.url));
const QUESTION = { model: "tea-1", stream: true, messages: [{ role: "user", content: "How do I make tea?" }] };

async function* tokens() {
  const headers = { "content-type": "application/json" };
  const asked = { method: "POST", headers, body: JSON.stringify(QUESTION) };
  const answer = await fetch("https://llm.example/v1/chat/completions", asked);
  let text = "";
  for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
    const lines = (text + part).split("\n");
    text = lines.pop();
    for (const line of lines.filter((line) => line.startsWith("data: {"))) {
      for (const { delta } of JSON.parse(line.slice("data: ".length)).choices) yield delta.content ?? "";
    }
  }
}

const server = http.createServer(async (request, response) => {
  if (request.method === "GET") return response.setHeader("content-type", "text/html").end(PAGE);
  try {
    for await (const token of tokens()) response.write(token);
    response.end();
  } catch {
    response.destroy();
  }
});
server.listen(3000, "127.0.0.1");
