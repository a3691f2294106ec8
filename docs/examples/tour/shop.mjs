// A shop: GET /price/teapot asks the price service and tells what it said.
import http from "node:http";
import { startBackendMocks } from "@playwright-backend-mocks/node";

// Does nothing unless PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL is set.
await startBackendMocks({ clientId: "shop" });

async function price(item) {
  const answer = await fetch(`http://prices.example/items/${item}`);
  return { item, price: (await answer.json()).price };
}

const server = http.createServer(async (request, response) => {
  try {
    const told = await price(request.url.split("/").at(-1));
    response.writeHead(200).end(JSON.stringify(told));
  } catch {
    response.writeHead(502).end(JSON.stringify({ error: "no prices today" }));
  }
});

server.listen(3000, "127.0.0.1", () => console.log("shop on http://127.0.0.1:3000"));
