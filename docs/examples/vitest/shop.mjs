// A shop: GET /price/teapot asks the price service and tells what it said.
import http from "node:http";

const server = http.createServer(async (request, response) => {
  const item = request.url.split("/").at(-1);
  try {
    const answer = await fetch(`http://prices.example/items/${item}`);
    const { price } = await answer.json();
    response.writeHead(200).end(JSON.stringify({ item, price }));
  } catch {
    response.writeHead(502).end(JSON.stringify({ error: "no prices today" }));
  }
});

server.listen(3000, "127.0.0.1");
