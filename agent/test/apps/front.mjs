/*
 * A server in front of another, BACK: /page says what that one said. /queued asks one after the other, and /waiting says
 * how many wait for their turn. /later asks when somebody loads /now.
 */
import { createServer } from "node:http";

const HOST = "http://third.test";

/** A queue for one request at a time, which loses whose turn it is: the next begins where the last one ended. */
const waiting = [];
let isBusy = false;

function queued(act) {
  return new Promise((resolve, reject) => {
    waiting.push(() => act().then(resolve, reject));
    if (!isBusy) next();
  });
}

async function next() {
  isBusy = true;
  for (let turn = waiting.shift(); turn; turn = waiting.shift()) await turn();
  isBusy = false;
}

const later = [];

function askLater() {
  const now = new Promise((resolve) => later.push(resolve));
  now.then(() => fetch(`${HOST}/price`)).catch((error) => process.stderr.write(`${error.message}\n`));
  return new Response("later");
}

function askNow() {
  for (const begin of later.splice(0)) begin();
  return new Response("now");
}

const PAGES = {
  "/page": () => fetch(`${process.env.BACK}/page`),
  "/queued": () => queued(() => fetch(`${HOST}/price`)),
  "/later": askLater,
  "/now": askNow,
  "/waiting": () => new Response(String(waiting.length)),
};

const server = createServer(async (request, response) => {
  try {
    response.end(await (await PAGES[request.url]()).text());
  } catch (error) {
    response.statusCode = 502;
    response.end(`${error.message}: ${error.cause?.message}`);
  }
}).listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`);
});
process.stdin.on("end", () => process.exit(0)).resume();
