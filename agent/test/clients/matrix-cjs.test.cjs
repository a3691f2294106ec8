"use strict";

// axios and others are functions here, and their default export elsewhere.
const load = async (name) => {
  const exports = require(name);
  return name.startsWith("undici") ? exports : { default: exports.default ?? exports };
};

void import("../lib/matrix.mjs").then(({ runMatrix }) => {
  runMatrix("CommonJS", async () => require("../../src/index.js").startTrafficMock, load);
});
