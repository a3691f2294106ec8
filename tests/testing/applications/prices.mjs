/**
 * Run as a child: an application that knows nothing of tests.
 *
 * `/price` asks a service that does not exist, `/ask` what it is told to; `/meet` answers when as
 * many ask it as it says.
 * The address is printed as one JSON line.
 */
import http from "node:http";

const PRICES = "http://prices.test/teapot";
const waiting = new Map();

/** Ask a service; the text of an error has its code. */
async function ask(url, method) {
  const failed = ({ cause }) => new Response(`${cause.code} ${cause}`);
  const answer = await fetch(url, { method }).catch(failed);
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
  const { name, count, method, target } = Object.fromEntries(url.searchParams);
  const pages = {
    "/price": () => ask(PRICES + url.search, "GET"),
    "/ask": () => ask(target, method),
    "/meet": () => meet(name, Number(count)),
  };
  response.end(await pages[url.pathname]());
});

server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }));
});
process.stdin.resume().on("end", () => process.exit());
