/* Asks by `fetch` and by `node:http`, with and without TLS, and writes what came into a file. */
import { writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";

const byModule = (module, url) =>
  new Promise((resolve) => {
    module
      .get(url, (answer) => {
        let text = "";
        answer.on("data", (data) => (text += data)).on("end", () => resolve(text));
      })
      .on("error", (error) => resolve(String(error)));
  });

const found = {};
for (const [scheme, module] of Object.entries({ http, https })) {
  const url = `${scheme}://api.shop.test`;
  found[`fetch ${scheme}`] = await fetch(`${url}/fetch`).then((answer) => answer.text(), String);
  found[`node ${scheme}`] = await byModule(module, `${url}/node`);
}
writeFileSync(process.env.CALLS_FILE, JSON.stringify(found));
// A process manager starts a program again that ends.
if (process.env.CALLS_STAY) setInterval(() => {}, 1000);
