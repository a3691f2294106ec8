"use strict";

const http = require("node:http");

/** Gives a request its socket; Node's own, kept before anything is hooked. */
const { onSocket } = /** @type {any} */ (http.ClientRequest.prototype);

module.exports = { onSocket };
