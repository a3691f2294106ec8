"use strict";

const { pythonOf } = require("./environment.js");
const { EnvironmentError } = require("./errors.js");

/** @returns {string[]} */
function trafficmockCommand() {
  // -I: neither a directory of that name nor PYTHONPATH comes before the installed package.
  return [pythonOf(), "-I", "-m", "trafficmock"];
}

module.exports = { EnvironmentError, trafficmockCommand };
