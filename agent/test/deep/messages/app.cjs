"use strict";

/*
 * An application in two processes: `ROLE=web` sends a message for each request `/KIND/WHO`, `ROLE=worker` handles it, asks
 * a third party, and tells its parent what it was answered. `LIBRARY` names the module with the kinds of messages.
 */
const http = require("node:http");

/** @param {string} kind @param {string} who caused the message */
async function handle(kind, who) {
  const url = `http://nowhere.test/${encodeURIComponent(kind)}?who=${who}`;
  const said = await fetch(url).then(
    (response) => response.text(),
    (error) => String(error.cause?.code ?? error),
  );
  process.send({ kind, who, said });
}

/** Until the context of a request would be over, which is set to a short time. */
const longer = () => new Promise((resolve) => setTimeout(resolve, 2 * Number(process.env.TRAFFICMOCK_CONTEXT_MS)));

async function main() {
  const { kinds, send, work } = await require(`./${process.env.LIBRARY}.cjs`)({ handle, longer });
  if (process.env.ROLE === "worker") {
    await work();
    return process.send({ kinds });
  }
  const server = http.createServer(async (req, res) => {
    const [kind, who] = req.url.slice(1).split("/").map(decodeURIComponent);
    await send(kind, who);
    res.end("sent");
  });
  server.listen(0, "127.0.0.1", () => process.send({ kinds, port: server.address().port }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
