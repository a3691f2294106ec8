import { createOpenAI } from "@ai-sdk/openai";
import { streamText } from "ai";

export async function POST() {
  const model = createOpenAI({ baseURL: "https://llm.test/v1", apiKey: "k" }).chat("m");
  return streamText({ model, prompt: "?" }).toTextStreamResponse();
}
