import axios from "axios";
import { fetchCalls } from "../../lib/fetch-calls.mjs";
import { HTTPS, run } from "../../lib/harness.mjs";

const traced = ({ method, headers }) => [method, "traceparent" in headers];

await run({
  ...Object.fromEntries(
    Object.entries(fetchCalls(fetch)).filter(([name]) => /^(get|post|redirects|status 404|timeout)/.test(name)),
  ),
  axios: () => axios.get(`${HTTPS}/json`).then(({ status, data }) => ({ status, data })),
  "axios, post": () => axios.post(`${HTTPS}/echo`, { a: 1 }).then(({ config, data }) => [data, traced(config)]),
});
