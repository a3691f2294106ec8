"use strict";

/* Connections that stay open for longer than a context counts after its request. */
const LONGER_MS = 1.5 * Number(process.env.TRAFFICMOCK_CONTEXT_MS);
const EVENTS = 3;

module.exports = () => ({
  "an event stream that is held open": async ({ res, ask }) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (let count = 0; count < EVENTS; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, LONGER_MS));
      res.write(`data: ${await ask()}\n\n`);
    }
    res.end();
  },
});
