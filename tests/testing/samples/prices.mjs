/**
 * Run as a child: an application that knows nothing of tests.
 *
 * `/price` asks a service that does not exist; `/meet` answers when as many ask it as it says.
 * The address is printed as one JSON line.
 */
import http from "node:http";

const PRICES = "http://prices.test/teapot";
const waiting = new Map();

/** Ask for the price. */
async function price(query) {
  const answer = await fetch(PRICES + query).catch((error) => new Response(String(error.cause)));
  return answer.text();
}

/** Wait until this was called so often. */
function meet(name, count) {
  return new Promise((resolve) => {
    const here = [...(waiting.get(name) ?? []), resolve];
    waiting.set(name, here.length < count ? here : []);
    if (here.length === count) for (const go of here) go("");
  });
}

const server = http.createServer(async (request, response) => {
  const url = new URL(request.url, "http://app.test");
  const { name, count } = Object.fromEntries(url.searchParams);
  response.end(await (url.pathname === "/price" ? price(url.search) : meet(name, Number(count))));
});

server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }));
});
process.stdin.resume().on("end", () => process.exit());
