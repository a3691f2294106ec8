"use strict";

const { execFileSync } = require("node:child_process");
const { existsSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

/**
 * The dashboard as one page without data. It needs no other package, because npm packs a checkout that has none
 * installed.
 */

const CHECKOUT = join(__dirname, "..", "..", "..");

/** @type {string | undefined} */
let known;

/** @returns {string} the page: a file of the package, which the checkout makes when it packs */
function template() {
  const packed = join(__dirname, "page.html");
  known ??= existsSync(packed)
    ? readFileSync(packed, "utf8")
    : execFileSync("python3", ["-m", "trafficmock.report.saved_page"], { cwd: CHECKOUT, encoding: "utf8" });
  return known;
}

module.exports = { template };
