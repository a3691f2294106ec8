import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { proxyUrl } from "./proxy.mjs";

/** The test's hand on an application process. */
export class App {
  constructor(url, child) {
    this.url = url;
    this.child = child;
  }

  async #tell(action, command = {}) {
    const response = await fetch(new URL(action, this.url), {
      method: "POST",
      body: JSON.stringify(command),
    });
    const told = await response.json();
    if (told.controlError) throw new Error(`the app's control: ${told.controlError.message}`);
    return told;
  }

  fetch(url, options = {}) {
    return this.#tell("request", { url, ...options });
  }

  http(url, options = {}) {
    return this.#tell("request", { kind: "http", url, ...options });
  }

  all(commands) {
    return this.#tell("requests", { commands });
  }

  begin(key, url, options = {}) {
    return this.#tell("begin", { key, url, ...options });
  }

  outcome(key) {
    return this.#tell("outcome", { key });
  }

  /** Open a WebSocket; `key` lets a later test find it. */
  async socket(url, options = {}) {
    const { id } = await this.#tell("ws/open", { url, ...options });
    return this.knownSocket(id);
  }

  /** A socket that another test opened under this key. */
  knownSocket(id) {
    return new AppSocket((action, command) => this.#tell(action, { id, ...command }));
  }

  alive() {
    return this.#tell("alive");
  }

  stop() {
    return this.#tell("stop");
  }

  /** As a crash would: no goodbye. */
  async kill() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await exited;
  }
}

class AppSocket {
  #tell;

  constructor(tell) {
    this.#tell = tell;
  }

  send(data) {
    return this.#tell("ws/send", typeof data === "string" ? { data } : { base64: data.toString("base64") });
  }

  close(code, reason) {
    return this.#tell("ws/close", { code, reason });
  }

  /** The events so far, once there are `count` of them. */
  async events(count) {
    return (await this.#tell("ws/events", { count })).events;
  }

  async readyState() {
    return (await this.#tell("ws/events", {})).readyState;
  }
}

/** The application that the whole run shares. */
export const sharedApp = new App(process.env.E2E_APP_URL);

/** Start an application of the test's own; what it announced, and its handle unless it failed. */
export async function startApp({ clientId, token }) {
  const environment = { ...process.env, APP_PROXY_URL: proxyUrl, APP_CLIENT_ID: clientId };
  delete environment.APP_TOKEN;
  // The agent would take the test side's own token from here.
  delete environment.PLAYWRIGHT_BACKEND_MOCKS_TOKEN;
  if (token !== undefined) environment.APP_TOKEN = token;
  const script = fileURLToPath(new URL("../app.mjs", import.meta.url));
  const child = spawn(process.execPath, [script], {
    env: environment,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const announced = JSON.parse(line);
  return { announced, app: announced.error ? undefined : new App(announced.url, child) };
}
