import main from "./src/index.js";

export const { expect, test } = main;
export default main.test;
