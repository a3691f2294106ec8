"use strict";

const headers = require("../protocol/headers.js");

/**
 * Make a relative `location` absolute. The application resolves it against the URL
 * that it requested, which is wrong if a handler changed the URL.
 * @param {headers.Pairs} pairs of the response
 * @param {string} url that the response came from
 * @returns {headers.Pairs}
 */
function rewriteLocation(pairs, url) {
  const location = headers.get(pairs, "location");
  return location && URL.canParse(location, url) ? headers.set(pairs, "location", new URL(location, url).href) : pairs;
}

module.exports = { rewriteLocation };
