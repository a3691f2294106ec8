"use strict";

/*
 * A server whose paths `/KIND/WHO` each begin another kind of work in the background. The work asks a third party, at
 * `/KIND?who=WHO`, or with `who=everyone` where it works for the whole application. All requests of a kind begin at
 * once, in the order of their keys: the first one begins what is begun once.
 */
const http = require("node:http");
const { WebSocketServer } = require("ws");

const TOGETHER = Number(process.env.TOGETHER ?? 1);
const EVERYONE = "everyone";

/** @typedef {object} One a request, or a message, for which work is begun
 * @property {string} who
 * @property {string} id of its own
 * @property {() => Promise<string>} ask asks the third party for it
 * @property {http.ServerResponse} [res]
 */

/** @param {string} kind @param {string} who @returns {Promise<string>} what was said, or the code of an error */
function ask(kind, who) {
  return fetch(`http://api.shop.test/${encodeURIComponent(kind)}?who=${who}`).then(
    (response) => response.text(),
    (error) => String(error.cause?.code ?? error),
  );
}

const gates = new Map();

/** Wait for all requests of a kind. */
function together(kind, key) {
  return new Promise((resolve) => {
    const waiting = [...(gates.get(kind) ?? []), { key, resolve }];
    gates.set(kind, waiting);
    if (waiting.length < TOGETHER) return;
    gates.delete(kind);
    for (const one of waiting.sort((a, b) => (a.key < b.key ? -1 : 1))) one.resolve();
  });
}

let count = 0;

/** @returns {One} */
function oneOf(kind, who, res) {
  count += 1;
  return { who, id: `${kind} ${count}`, ask: () => ask(kind, who), res };
}

async function main() {
  const kinds = {};
  for (const name of process.env.KINDS.split(" ")) {
    Object.assign(kinds, await require(`./${name}.cjs`)({ ask, everyone: (kind) => ask(kind, EVERYONE) }));
  }
  const server = http.createServer(async (req, res) => {
    const [kind, who] = req.url.slice(1).split("/").map(decodeURIComponent);
    await together(kind, req.headers["x-key"]);
    try {
      const said = await kinds[kind](oneOf(kind, who, res));
      if (!res.headersSent) res.end(String(said));
    } catch (error) {
      res.statusCode = 500;
      res.end(String(error.stack));
    }
  });
  new WebSocketServer({ server }).on("connection", (socket, req) => {
    const [kind, who] = req.url.slice(1).split("/").map(decodeURIComponent);
    socket.on("message", () => ask(kind, who));
  });
  server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port, kinds: Object.keys(kinds) }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
