/*
 * What arrives, byte by byte: the libraries' own classes of agents, called in each way, and clients that use them.
 */
import http from "node:http";
import https from "node:https";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { AnonymousCredential, BlobServiceClient } from "@azure/storage-blob";
import { ClickHouseLogLevel, createClient } from "@clickhouse/client";
import axios from "axios";
import FormData from "form-data";
import { bootstrap } from "global-agent";
import got from "got";
import hpagent from "hpagent";
import { HttpProxyAgent } from "http-proxy-agent";
import HttpProxyAgent5 from "http-proxy-agent5";
import HttpsProxyAgent5 from "https-proxy-agent5";
import { HttpsProxyAgent as HttpsProxyAgent7 } from "https-proxy-agent7";
import makeFetchHappen from "make-fetch-happen";
import nodeFetch from "node-fetch2";
import { ProxyAgent } from "proxy-agent";
import Stripe from "stripe";
import superagent from "superagent";
import tunnel from "tunnel";
import * as urllib from "urllib";
import webPush from "web-push";
import { agentCalls } from "../lib/agent-calls.mjs";
import { run } from "../lib/harness.mjs";
import { startRawServers } from "../lib/raw-servers.mjs";
import { secureAgents } from "./secure-agents.mjs";

const raw = await startRawServers();
const { answered, forms, headers, withBytes } = agentCalls(raw);
const host = "api.shop.test";
const port = Number(new URL(raw.https).port);
const proxyPart = { host: "127.0.0.1", port: raw.proxyPort };

const PLAIN = {
  "http-proxy-agent 5": () => new HttpProxyAgent5(raw.proxy),
  "http-proxy-agent 7": () => new HttpProxyAgent(raw.proxy),
  "proxy-agent": () => new ProxyAgent({ getProxyForUrl: () => raw.proxy }),
  hpagent: () => new hpagent.HttpProxyAgent({ proxy: raw.proxy }),
  tunnel: () => tunnel.httpOverHttp({ proxy: proxyPart }),
};
const calls = {};
for (const [name, make] of Object.entries(secureAgents(raw))) {
  for (const [form, call] of Object.entries(forms)) calls[`${name}: ${form}`] = () => call(make());
}
for (const [name, make] of Object.entries(PLAIN)) {
  calls[`${name}, http`] = () => answered(http.get(`${raw.http}/x?y`, { agent: make(), headers }));
  calls[`${name}, http, a body`] = () => {
    const req = http.request(`${raw.http}/x`, { agent: make(), headers, method: "POST" });
    req.end("body");
    return answered(req);
  };
}
const blobs = () =>
  new BlobServiceClient(`${raw.https}/account`, new AnonymousCredential(), {
    retryOptions: { maxTries: 1 },
  });
const s3 = (more) =>
  new S3Client({
    region: "eu-west-1",
    endpoint: raw.https,
    forcePathStyle: true,
    credentials: { accessKeyId: "id", secretAccessKey: "secret" },
    maxAttempts: 1,
    ...more,
  });
const clickhouse = () => createClient({ url: raw.https, log: { level: ClickHouseLogLevel.OFF } });
const subscription = {
  endpoint: `${raw.https}/push`,
  keys: {
    p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    auth: "BTBZMqHH6r4Tts7J_aSIgg",
  },
};

/** Call with nothing but the company's variable. */
const withVariable = async (act) => {
  process.env.HTTPS_PROXY = raw.proxy;
  try {
    return await act();
  } finally {
    delete process.env.HTTPS_PROXY;
  }
};

await run(
  withBytes({
    ...calls,
    "make-fetch-happen": async () => (await makeFetchHappen(`${raw.https}/x`, { headers })).json(),
    "make-fetch-happen, http, a body": async () =>
      (await makeFetchHappen(`${raw.http}/x`, { method: "POST", body: "body", headers })).json(),
    "make-fetch-happen, proxy": async () =>
      (await makeFetchHappen(`${raw.https}/x`, { proxy: raw.proxy, headers })).json(),
    "urllib: json": async () =>
      (
        await urllib.request(`${raw.https}/x`, { method: "POST", contentType: "json", data: { a: 1 }, headers })
      ).data.toString(),
    "urllib: files": async () =>
      (await urllib.request(`${raw.https}/x`, { method: "POST", files: { a: Buffer.from("content") }, headers }))
        .status,
    "ClickHouse: query": async () => (await clickhouse().query({ query: "SELECT 1", format: "JSONEachRow" })).text(),
    "ClickHouse: insert": async () =>
      (await clickhouse().insert({ table: "t", values: [{ a: 1 }, { a: 2 }], format: "JSONEachRow" })).executed,
    "ClickHouse: cancelled": async () => {
      const controller = new AbortController();
      const over = clickhouse().query({ query: "SELECT 1", abort_signal: controller.signal });
      controller.abort();
      return (await over).text();
    },
    "ClickHouse: cancelled before": async () =>
      (await clickhouse().query({ query: "SELECT 1", abort_signal: AbortSignal.abort() })).text(),
    "axios: httpsAgent": async () =>
      (await axios.get(`${raw.https}/x`, { httpsAgent: new HttpsProxyAgent7(raw.proxy), proxy: false, headers }))
        .status,
    "axios: HTTPS_PROXY": () => withVariable(async () => (await axios.get(`${raw.https}/x`, { headers })).status),
    "axios: HTTPS_PROXY, a form": () =>
      withVariable(async () => {
        const form = new FormData();
        form.append("field", "value");
        return (await axios.post(`${raw.https}/x`, form, { headers })).status;
      }),
    got: async () =>
      got(`${raw.https}/x`, { agent: { https: new HttpsProxyAgent7(raw.proxy) }, retry: { limit: 0 }, headers }).json(),
    "node-fetch 2": async () =>
      (await nodeFetch(`${raw.https}/x`, { agent: new HttpsProxyAgent5(raw.proxy), headers })).json(),
    superagent: async () =>
      (await superagent.get(`${raw.https}/x`).agent(new HttpsProxyAgent7(raw.proxy)).set(headers)).status,
    "AWS S3: an agent": async () =>
      (
        await s3({ requestHandler: new NodeHttpHandler({ httpsAgent: new HttpsProxyAgent7(raw.proxy) }) }).send(
          new GetObjectCommand({ Bucket: "b", Key: "k" }),
        )
      ).ContentLength,
    "AWS S3: an agent, a body": async () =>
      Boolean(
        await s3({ requestHandler: new NodeHttpHandler({ httpsAgent: new HttpsProxyAgent7(raw.proxy) }) }).send(
          new PutObjectCommand({ Bucket: "b", Key: "k", Body: "body" }),
        ),
      ),
    "Azure Storage: HTTPS_PROXY": () =>
      withVariable(
        async () =>
          (await blobs().getContainerClient("c").getBlockBlobClient("b").upload("body", 4)).requestId ?? "none",
      ),
    Stripe: async () =>
      (
        await new Stripe("sk_test", {
          host,
          port,
          httpAgent: new HttpsProxyAgent7(raw.proxy),
          maxNetworkRetries: 0,
          telemetry: false,
        }).customers.retrieve("c")
      ).id ?? "none",
    "web-push: proxy": async () =>
      (await webPush.sendNotification(subscription, null, { proxy: raw.proxy })).statusCode,
    // The last one, since it takes the place of the global agents. It does not say for which host the certificate must be.
    "global-agent": async () => {
      bootstrap();
      globalThis.GLOBAL_AGENT.HTTP_PROXY = raw.proxy;
      return [
        await answered(https.get(`${raw.https}/x`, { headers, rejectUnauthorized: false })),
        await answered(http.get(`${raw.http}/x`, { headers })),
      ];
    },
  }),
);
raw.stop();
