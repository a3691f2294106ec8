/**
 * Run as a child: read an answer by `fetch` or `node:http`, and print what comes as lines of JSON.
 *
 * A line has the content `type`, a `piece` in base64, or the `error` at the end.
 */
import http from "node:http";

const [client, url] = process.argv.slice(2);
const say = (value) => console.log(JSON.stringify(value));
const CLIENTS = {
  fetch: async () => {
    const { headers, body } = await fetch(url);
    return { type: headers.get("content-type"), body };
  },
  "node:http": () =>
    new Promise((resolve, reject) => {
      const request = http.get(url, (response) => resolve({ type: response.headers["content-type"], body: response }));
      request.on("error", reject);
    }),
};

try {
  const { type, body } = await CLIENTS[client]();
  say({ type });
  for await (const chunk of body) say({ piece: Buffer.from(chunk).toString("base64") });
} catch (error) {
  say({ error: `${error.name}: ${error.message}` });
}
