"use strict";

// axios and others are functions here, and their default export elsewhere.
const load = async (name) => {
  const exports = require(name);
  return name.startsWith("undici") ? exports : { default: exports.default ?? exports };
};

/** Whoever loads a client, it is the same client: the usual run has one feature of each way that a request goes. */
const few = ["mock", "passthrough", "continue", "fetch, then fulfill", "abort codes", "redirect"];

void import("./lib/matrix.mjs").then(({ runMatrix }) => {
  const features = process.env.TRAFFICMOCK_DEEP ? undefined : few;
  runMatrix("CommonJS", async () => require("../src/index.js").startTrafficMock, load, features);
});
