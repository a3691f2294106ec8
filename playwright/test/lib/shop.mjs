import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { freePort } from "./project.mjs";

const REGISTER = fileURLToPath(new URL("../../../agent/register.js", import.meta.url));
const SHOP = fileURLToPath(new URL("../apps/shop.mjs", import.meta.url));
const TRIES = 400;

/**
 * Start the shop, attached.
 *
 * @param {string} proxyUrl
 * @returns {Promise<{ url: string, stop(): Promise<void> }>}
 */
export async function startShop(proxyUrl) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, ["--require", REGISTER, SHOP], {
    env: { ...process.env, PORT: String(port), TRAFFICMOCK_PROXY_URL: proxyUrl, TRAFFICMOCK_CLIENT_ID: "shop" },
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
