/* What arrives, byte by byte, of requests through proxy agents; many more libraries are in `agents`. */
import https from "node:https";
import axios from "axios";
import HttpsProxyAgent5 from "https-proxy-agent5";
import { HttpsProxyAgent as HttpsProxyAgent7 } from "https-proxy-agent7";
import { agentCalls } from "../lib/agent-calls.mjs";
import { run } from "../lib/harness.mjs";
import { startRawServers } from "../lib/raw-servers.mjs";

const raw = await startRawServers();
const { forms, headers, withBytes } = agentCalls(raw);

/** As in the client of npm, the class changes the request before it is sent. */
class Changing extends https.Agent {
  addRequest(req, ...rest) {
    req.setHeader("x-changed", "1");
    return super.addRequest(req, ...rest);
  }
}

const AGENTS = {
  "https-proxy-agent 5": () => new HttpsProxyAgent5(raw.proxy),
  "https-proxy-agent 7": () => new HttpsProxyAgent7(raw.proxy),
  "a subclass": () => new Changing(),
};
const calls = {};
for (const [name, make] of Object.entries(AGENTS)) {
  for (const [form, call] of Object.entries(forms)) calls[`${name}: ${form}`] = () => call(make());
}

await run(
  withBytes({
    ...calls,
    "axios: HTTPS_PROXY": async () => {
      process.env.HTTPS_PROXY = raw.proxy;
      try {
        return (await axios.get(`${raw.https}/x`, { headers })).status;
      } finally {
        delete process.env.HTTPS_PROXY;
      }
    },
  }),
);
raw.stop();
