"use strict";

const { WebSocketServer } = require("ws");
const { duplexPair } = require("./duplex-pair.js");

/**
 * Open the server that an intercepted WebSocket of the application connects to.
 *
 * @param {import('./bridge.js').Opening} opening
 * @param {string | undefined} protocol the subprotocol that the server selects
 * @returns {{ page: import('ws').WebSocket, end: import('./duplex-pair.js').End }}
 *   the agent's side, and the end for the application, which first reads the response of the handshake
 */
function openApplicationSide(opening, protocol) {
  const isEncrypted = opening.url.protocol === "wss:";
  const [ours, theirs] = duplexPair(isEncrypted);
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    handleProtocols: () => protocol || false,
  });
  const request = {
    method: "GET",
    url: opening.url.pathname,
    headers: { ...opening.headers, upgrade: "websocket", connection: "Upgrade" },
    socket: ours,
  };
  /** @type {import('ws').WebSocket | undefined} */
  let page;
  server.handleUpgrade(/** @type {any} */ (request), ours, Buffer.alloc(0), (socket) => {
    page = socket;
  });
  if (!page) throw new Error("The handshake of the WebSocket is not one.");
  return { page, end: theirs };
}

module.exports = { openApplicationSide };
