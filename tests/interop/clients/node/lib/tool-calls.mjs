import { createRequire } from "node:module";
import http from "node:http";
import { fetchCalls } from "./fetch-calls.mjs";
import { HTTP, HTTPS, once, text } from "./harness.mjs";

const require = createRequire(import.meta.url);

/** A few calls of an application that a tool runs, with `fetch`, with axios and with `node:http`. */
export const toolCalls = () => ({
  ...Object.fromEntries(
    Object.entries(fetchCalls(fetch)).filter(([name]) => /^(get|post|redirects|status 404)/.test(name)),
  ),
  axios: () =>
    require("axios")
      .get(`${HTTPS}/json`)
      .then(({ status, data }) => ({ status, data })),
  "axios, post": () =>
    require("axios")
      .post(`${HTTPS}/echo`, { a: 1 })
      .then(({ status, data }) => ({ status, data })),
  "node:http": async () => {
    const response = await once(http.get(`${HTTP}/text`), "response");
    return { status: response.statusCode, body: await text(response) };
  },
});
