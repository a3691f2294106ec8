export * from "./index.js";
export { test as default } from "./index.js";
