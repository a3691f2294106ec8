/* The same as reader.py, in Node. */
import { setTimeout } from "node:timers/promises";

const [url, pieces, pause] = process.argv.slice(2);
const MIB = 2 ** 20;
const peak = () => console.log(process.resourceUsage().maxRSS * 1024);

let read = 0;
let paused = 0;
for await (const { length } of (await fetch(url)).body) {
  const tenth = Math.floor(Number(pieces) / 10) * MIB;
  if (read < tenth && read + length >= tenth) peak();
  read += length;
  for (; paused < Math.floor(read / MIB); paused += 1) await setTimeout(Number(pause));
}
if (read !== Number(pieces) * MIB) throw new Error(`${read} bytes`);
peak();
