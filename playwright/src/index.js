"use strict";

const { expect, test: base } = require("@playwright/test");
const { fixtures, options } = require("./fixtures/fixtures.js");

// The options come first: the fixture `trafficmock` then gets the configuration's option of the same name.
const test = base.extend(/** @type {any} */ (options)).extend(/** @type {any} */ (fixtures));

module.exports = { expect, test };
