import { createOpenAI } from "@ai-sdk/openai";
import { GoogleGenAI } from "@google/genai";
import { ChatOpenAI } from "@langchain/openai";
import { Mistral } from "@mistralai/mistralai";
import { generateText, streamText } from "ai";
import Replicate from "replicate";
import { run } from "../lib/harness.mjs";

const base = "https://vendor.test";
const model = createOpenAI({ baseURL: base, apiKey: "sk-test" }).chat("any");
const chain = new ChatOpenAI({ model: "any", apiKey: "sk-test", maxRetries: 0, configuration: { baseURL: base } });
const google = new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl: base } });
const mistral = new Mistral({ apiKey: "key", serverURL: base });
const replicate = new Replicate({ auth: "r8", baseUrl: base });
const messages = [{ role: "user", content: "hi" }];

async function read(stream, pick) {
  const parts = [];
  for await (const part of stream) parts.push(pick(part));
  return parts;
}

await run({
  "ai: text": async () => (await generateText({ model, messages, maxRetries: 0 })).text,
  "ai: stream": () => read(streamText({ model, messages, maxRetries: 0, onError() {} }).textStream, String),
  "langchain: text": async () => (await chain.invoke("hi")).content,
  "langchain: stream": async () => read(await chain.stream("hi"), (part) => part.content),
  "genai: text": async () => (await google.models.generateContent({ model: "any", contents: "hi" })).text,
  "genai: stream": async () =>
    read(await google.models.generateContentStream({ model: "any", contents: "hi" }), (part) => part.text),
  "mistral: text": async () => (await mistral.chat.complete({ model: "any", messages })).choices[0].message.content,
  "mistral: stream": async () => read(await mistral.chat.stream({ model: "any", messages }), (part) => part.data.id),
  replicate: async () => (await replicate.predictions.create({ version: "v1", input: { prompt: "hi" } })).output,
});
