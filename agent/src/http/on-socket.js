"use strict";

const http = require("node:http");

/** Node's method that gives a request its socket, kept before anything is hooked. */
const { onSocket } = /** @type {any} */ (http.ClientRequest.prototype);

module.exports = { onSocket };
