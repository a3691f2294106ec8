// An application and its test in one process of Node: the agent is loaded by NODE_OPTIONS. Writes what came to a file.
import { writeFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [core, output] = process.argv.slice(2);
const { connect } = await import(pathToFileURL(core));

const get = (url, headers) =>
  new Promise((resolve, reject) => {
    http
      .get(url, { headers }, (response) => {
        let text = "";
        response.on("data", (data) => (text += data)).on("end", () => resolve(text));
      })
      .on("error", reject);
  });

const mocks = await connect({ title: "windows", file: import.meta.filename });
await mocks.route("http://prices.example/**", (route) =>
  route.fulfill({ body: `handler ${route.request().method()}` }),
);
await mocks.mock("http://stock.example/**", { json: { left: 3 } });
const asked = mocks.waitForRequest("http://prices.example/teapot");
const came = {
  platform: process.platform,
  separator: path.sep,
  fetch: await (await fetch("http://prices.example/teapot", { headers: mocks.headers })).text(),
  http: await get("http://stock.example/teapot", mocks.headers),
  asked: (await asked).url(),
};
await mocks.route("http://gone.example/**", (route) => route.abort("connectionrefused"));
came.abort = await fetch("http://gone.example/", { headers: mocks.headers }).catch((error) => error.cause.code);
await mocks.end();
writeFileSync(output, JSON.stringify(came));
process.exit(0);
