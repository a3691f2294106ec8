/**
 * An application with an agent in it. Over a control server the tests
 * tell it which requests to send; those are what the agent intercepts.
 *
 * Environment: `E2E_AGENT`, which is `npm` (the default) or `ours`, `APP_PROXY_URL`,
 * `APP_CLIENT_ID`, `APP_TOKEN`. The first line
 * on stdout says where the control server is, or why the agent did not start.
 */
import http from "node:http";
import { announce, bodyOf, endWithParent, listen } from "./lib/announce.mjs";
import { AppSockets } from "./lib/app-sockets.mjs";
import { outcomeOf, tellError } from "./lib/outcome.mjs";

const AGENTS = {
  npm: async () => (await import("@playwright-backend-mocks/node")).startBackendMocks,
  ours: async () => (await import("../../../../agent/index.mjs")).startTrafficMock,
};

const jobs = new Map();
const sockets = new AppSockets();
let agent;

const afterMs = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const actions = {
  /** Send one request and tell how it ended. */
  request: (command) => outcomeOf(command),
  /** Send requests at once, tell how each ended. */
  requests: ({ commands }) => Promise.all(commands.map(outcomeOf)),
  /** Begin a request whose outcome somebody else will ask for by `key`. */
  begin: ({ key, delayMs = 0, ...command }) => {
    jobs.set(
      key,
      afterMs(delayMs).then(() => outcomeOf(command)),
    );
    return {};
  },
  outcome: ({ key }) => jobs.get(key),
  "ws/open": (command) => sockets.open(command),
  "ws/send": ({ id, ...command }) => sockets.send(id, command),
  "ws/close": ({ id, ...command }) => sockets.close(id, command),
  "ws/events": ({ id, ...command }) => sockets.events(id, command),
  stop: async () => {
    await agent.stop();
    return {};
  },
  alive: () => ({ pid: process.pid }),
};

async function control(request, response) {
  const command = JSON.parse((await bodyOf(request)).toString("utf8") || "{}");
  const told = await actions[request.url.slice(1)](command);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(told));
}

async function main() {
  const { APP_PROXY_URL: proxyUrl, APP_CLIENT_ID: clientId, APP_TOKEN: token } = process.env;
  try {
    const start = await AGENTS[process.env.E2E_AGENT ?? "npm"]();
    agent = await start({ proxyUrl, clientId, token });
  } catch (error) {
    announce({ error: tellError(error) });
    return process.exit(1);
  }
  const server = http.createServer((request, response) => {
    control(request, response).catch((error) => {
      response.writeHead(500).end(JSON.stringify({ controlError: tellError(error) }));
    });
  });
  return announce({ url: await listen(server), clientId: agent.clientId, pid: process.pid });
}

endWithParent();
await main();
