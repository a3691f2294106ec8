export * from "./llm.js";
