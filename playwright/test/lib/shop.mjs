import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { freePort } from "./project.mjs";

const REGISTER = fileURLToPath(new URL("../../../agent/register.js", import.meta.url));
const APPS = fileURLToPath(new URL("../apps/", import.meta.url));
const TRIES = 400;

/**
 * Start an application, attached.
 *
 * @param {string} proxyUrl
 * @param {{ app?: string, env?: Record<string, string> }} [options] its name in `apps`, and its environment
 * @returns {Promise<{ url: string, stop(): Promise<void> }>}
 */
export async function startShop(proxyUrl, { app = "shop", env = {} } = {}) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, ["--require", REGISTER, `${APPS}${app}.mjs`], {
    env: { ...process.env, PORT: String(port), TRAFFICMOCK_PROXY_URL: proxyUrl, TRAFFICMOCK_CLIENT_ID: app, ...env },
    stdio: "inherit",
  });
  const stop = async () => {
    child.kill();
    await once(child, "exit");
  };
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (await fetch(url).catch(() => undefined)) return { url, stop };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await stop();
  throw new Error("the shop did not start");
}
