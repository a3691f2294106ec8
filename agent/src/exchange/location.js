"use strict";

const headers = require("../protocol/headers.js");

/**
 * The application resolves a relative location against the URL it asked for,
 * which is not the one that answered when a handler changed it.
 * @param {headers.Pairs} pairs of the response
 * @param {string} url that answered
 * @returns {headers.Pairs}
 */
function rewriteLocation(pairs, url) {
  const location = headers.get(pairs, "location");
  return location && URL.canParse(location, url) ? headers.set(pairs, "location", new URL(location, url).href) : pairs;
}

module.exports = { rewriteLocation };
