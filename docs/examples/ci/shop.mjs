// A Node application: GET /price/teapot asks a service for the price.
import http from "node:http";

const server = http.createServer(async (request, response) => {
  const item = request.url.split("/").at(-1);
  try {
    const answer = await fetch(`https://prices.example/items/${item}`, { signal: AbortSignal.timeout(10_000) });
    const { price } = await answer.json();
    response.end(JSON.stringify({ item, price }));
  } catch {
    response.writeHead(502).end(JSON.stringify({ error: "no prices today" }));
  }
});

server.listen(3000, "127.0.0.1");
