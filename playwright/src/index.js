"use strict";

const { expect, test: base } = require("@playwright/test");
const { fixtures, options } = require("./fixtures/fixtures.js");

// The options come first: what a configuration says of `trafficmock` is then what the fixture of that name reads.
const test = base.extend(/** @type {any} */ (options)).extend(/** @type {any} */ (fixtures));

module.exports = { expect, test };
