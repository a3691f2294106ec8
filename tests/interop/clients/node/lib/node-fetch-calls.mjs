import FormData from "form-data";
import https from "node:https";
import { Readable } from "node:stream";
import { HTTPS, pieces, text } from "./harness.mjs";

/** What both versions of node-fetch have beside `fetch`. */
export const nodeFetchCalls = (fetch) => ({
  "form-data": async () => {
    const form = new FormData();
    form.append("field", "value");
    form.append("file", Buffer.from("contents"), "name.txt");
    return (await fetch(`${HTTPS}/echo`, { method: "POST", body: form })).json();
  },
  "stream up": async () =>
    (await fetch(`${HTTPS}/echo`, { method: "POST", body: Readable.from(pieces("one ", "two")) })).json(),
  "stream down": async () => text((await fetch(`${HTTPS}/large/200000`)).body).then(({ length }) => length),
  "an agent that keeps connections": async () => {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    const results = [];
    for (const at of [1, 2, 3]) results.push(await (await fetch(`${HTTPS}/echo?at=${at}`, { agent })).json());
    agent.destroy();
    return results;
  },
  "gzip left alone": async () => {
    const response = await fetch(`${HTTPS}/gzip`, { compress: false });
    return [response.headers.get("content-encoding"), Buffer.from(await response.arrayBuffer()).subarray(0, 2)];
  },
  "too large an answer": async () => (await fetch(`${HTTPS}/large/5000`, { size: 1000 })).text(),
  "too many redirects": async () =>
    (await fetch(`${HTTPS}/redirect/302?to=/redirect/302?to=/json`, { follow: 1 })).text(),
});
