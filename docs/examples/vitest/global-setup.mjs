// Vitest calls this once: it starts the proxy and the shop, and ends them after the tests.
import { spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { attached, proxyServer } from "trafficmock-playwright/config";

const SHOP = {
  command: "node shop.mjs",
  url: "http://127.0.0.1:3000",
  env: attached({ clientId: "shop" }),
};

async function start({ command, url, env }) {
  const child = spawn(`exec ${command}`, { shell: true, env: { ...process.env, ...env }, stdio: "inherit" });
  while (child.exitCode === null) {
    if (await fetch(url).catch(() => undefined)) return child;
    await setTimeout(50);
  }
  throw new Error(`"${command}" ended with status ${child.exitCode}`);
}

export default async function setup() {
  const proxy = await start(proxyServer());
  const shop = await start(SHOP);
  return () => [shop, proxy].forEach((child) => child.kill());
}
