/* A test that stands still, as at a breakpoint, when something comes on its standard input. */
import { once } from "node:events";
import { connect } from "trafficmock-playwright/core";

const mocks = await connect({ title: "stands still" });
let frames = 0;
await mocks.routeWebSocket("ws://chat.example/**", (ws) => {
  ws.onMessage(() => (frames += 1));
});
process.stdout.write(JSON.stringify(mocks.headers));
await once(process.stdin, "data");
process.stdout.write("stands");
// Nothing of this thread runs.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(process.env.STANDS_MS));
while (frames < Number(process.env.FRAMES)) await new Promise((resolve) => setTimeout(resolve, 50));
await mocks.end();
