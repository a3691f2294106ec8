export * from "./reporter.js";
export { default } from "./reporter.js";
