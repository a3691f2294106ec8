import main from "./src/core.js";

export const { attachSelf, connect } = main;
