export { default } from "./src/reporter.js";
