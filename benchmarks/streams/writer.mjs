/* The same as writer.py, in JavaScript. */
import { connect } from "../../playwright/core.mjs";

const [proxyUrl, url, pieces] = process.argv.slice(2);
const PIECE = Buffer.alloc(2 ** 20);
const peak = () => console.log(process.resourceUsage().maxRSS * 1024);

const mocks = await connect({ title: "writer", proxyUrl, isolation: "off" });
const stream = await mocks.stream(url, { contentType: "application/octet-stream" });
console.log("ready");
for (let number = 0; number < Number(pieces); number += 1) {
  if (number === Math.floor(Number(pieces) / 10)) peak();
  await stream.send(PIECE);
}
await stream.end();
peak();
await mocks.end();
