import main from "./src/core.js";

export const { connect } = main;
