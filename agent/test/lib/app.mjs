import { spawn } from "node:child_process";
import { REQUIRE } from "./child.mjs";

const READY = /(?:Local|Listening on):?\s+(http:\S+)/;

/**
 * Start a framework's server as its users do: attached by the environment alone.
 * @param {{ url: string }} proxy
 * @param {string} cwd of the application
 * @param {string[]} command after `node`
 * @param {Record<string, string>} [env]
 * @param {string} [preload]
 * @returns {Promise<{ url: string, stop(): void }>} once it says where it listens
 */
export async function startApp(proxy, cwd, command, env = {}, preload = REQUIRE) {
  const child = spawn(process.execPath, command, {
    cwd,
    // A group of its own: frameworks start their servers as children, and all must go.
    detached: true,
    env: {
      ...process.env,
      NEXT_TELEMETRY_DISABLED: "1",
      NUXT_TELEMETRY_DISABLED: "1",
      NO_COLOR: "1",
      ...env,
      NODE_OPTIONS: preload,
      TRAFFICMOCK_PROXY_URL: proxy.url,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stop = () => {
    if (child.exitCode === null) process.kill(-child.pid, "SIGTERM");
  };
  let said = "";
  const url = await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data) => {
        said += data;
        const found = READY.exec(said);
        if (found) resolve(found[1].replace(/\/$/, ""));
      });
    }
    child.once("exit", () => reject(new Error(`${command.join(" ")} ended:\n${said}`)));
  });
  return { url, stop };
}
