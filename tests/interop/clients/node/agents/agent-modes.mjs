/* Clients whose requests go to the server of the bench through a proxy, or by a class of their own, as a test decides. */
import https from "node:https";
import axios from "axios";
import got from "got";
import HttpsProxyAgent5 from "https-proxy-agent5";
import { HttpsProxyAgent as HttpsProxyAgent7 } from "https-proxy-agent7";
import makeFetchHappen from "make-fetch-happen";
import nodeFetch from "node-fetch2";
import superagent from "superagent";
import * as urllib from "urllib";
import { HTTP, HTTPS, once, run, text } from "../lib/harness.mjs";
import { startRawServers } from "../lib/raw-servers.mjs";
import { secureAgents } from "./secure-agents.mjs";

const raw = await startRawServers();
const post = { method: "POST", body: "body" };
const retry = { limit: 0 };
const agent = new HttpsProxyAgent7(raw.proxy);

const calls = {};
for (const [name, make] of Object.entries(secureAgents(raw))) {
  calls[`${name}: GET`] = async () => {
    const response = await once(https.get(`${HTTPS}/json`, { agent: make() }), "response");
    return [response.statusCode, await text(response)];
  };
  calls[`${name}: POST by options`] = async () => {
    const given = { host: "api.shop.test", path: "/echo", method: "POST", agent: make() };
    const req = https.request(given);
    req.end("body");
    const response = await once(req, "response");
    return [response.statusCode, await text(response)];
  };
}

await run({
  ...calls,
  "make-fetch-happen: GET": async () => (await makeFetchHappen(`${HTTPS}/json`)).json(),
  "make-fetch-happen: POST": async () => (await makeFetchHappen(`${HTTP}/echo`, post)).json(),
  "make-fetch-happen: proxy": async () =>
    (await makeFetchHappen(`${HTTPS}/echo`, { ...post, proxy: raw.proxy })).json(),
  "urllib: JSON": async () =>
    (await urllib.request(`${HTTPS}/echo`, { method: "POST", contentType: "json", data: { a: 1 }, dataType: "json" }))
      .data,
  "urllib: a file": async () =>
    (await urllib.request(`${HTTPS}/status/200`, { method: "POST", files: { a: Buffer.from("content") } })).status,
  axios: async () => (await axios.post(`${HTTPS}/echo`, "body", { httpsAgent: agent, proxy: false })).data,
  got: async () => got.post(`${HTTPS}/echo`, { body: "body", agent: { https: agent }, retry }).json(),
  "node-fetch 2": async () =>
    (await nodeFetch(`${HTTPS}/echo`, { ...post, agent: new HttpsProxyAgent5(raw.proxy) })).json(),
  superagent: async () => (await superagent.post(`${HTTPS}/echo`).agent(agent).send({ a: 1 })).body,
});
raw.stop();
