/**
 * An application that measures: how long do its own requests take? `POST /` with `{url, count}`
 * sends so many, one after the other, and answers with the milliseconds of each.
 */
import http from "node:http";
import { startBackendMocks } from "@playwright-backend-mocks/node";
import { announce, bodyOf, endWithParent, listen } from "./lib/announce.mjs";

function once(url) {
  return new Promise((resolve, reject) => {
    const request = http.get(url, (response) => bodyOf(response).then(resolve, reject));
    request.on("error", reject);
  });
}

async function measure({ url, count }) {
  const took = [];
  for (let number = 0; number < count; number += 1) {
    const begin = performance.now();
    await once(url);
    took.push(performance.now() - begin);
  }
  return took;
}

const { APP_PROXY_URL: proxyUrl, APP_CLIENT_ID: clientId } = process.env;
await startBackendMocks({ proxyUrl, clientId });
const server = http.createServer(async (request, response) => {
  const command = JSON.parse((await bodyOf(request)).toString("utf8"));
  response.end(JSON.stringify(await measure(command)));
});
endWithParent();
announce({ url: await listen(server) });
