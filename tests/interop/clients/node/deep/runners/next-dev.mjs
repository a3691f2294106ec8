import { once } from "node:events";
import { rmSync } from "node:fs";
import net from "node:net";
import { runTool } from "../../lib/tool.mjs";

const APP = "tools/next-app";
process.env.NEXT_TELEMETRY_DISABLED = "1";
// What an earlier run compiled is not for this one: each run begins alike.
rmSync(new URL(`${APP}/.next`, import.meta.url), { recursive: true, force: true });

const place = net.createServer().listen(0, "127.0.0.1");
await once(place, "listening");
const { port } = /** @type {net.AddressInfo} */ (place.address());
await new Promise((resolve) => place.close(resolve));

runTool("next", "next", ["dev", APP, "--port", String(port), "--hostname", "127.0.0.1"], {
  stdout: "ignore",
  // Next measures the machine.
  left: /^⚠ Slow filesystem detected|^See more: .*local-development$/,
});

/** Ask the application for its page, by a socket: this request is not one of the calls. */
function ask() {
  const socket = net.connect(port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  socket.on("error", () => setTimeout(ask, 100)).resume();
  socket.unref();
}
ask();
