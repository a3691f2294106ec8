import llm from "./src/llm.js";

export const { ChatCompletion, EVENT_STREAM, AnthropicMessage, ModelResponse } = llm;
