/* A shop: each page asks another server, which does not exist, for the price. PORT is where it listens. */
import { createServer } from "node:http";

createServer(async (request, response) => {
  const { pathname } = new URL(request.url, "http://shop");
  if (pathname === "/") return void response.end("open");
  try {
    const answer = await fetch(`http://prices.example${pathname}`, { headers: { authorization: "Bearer hush" } });
    const { price } = await answer.json();
    response.setHeader("content-type", "text/html");
    response.end(`<title>Shop</title><p id="price">${price}</p>`);
  } catch (error) {
    response.statusCode = 502;
    response.end(`no price: ${error.cause?.code ?? error.message}`);
  }
}).listen(process.env.PORT, "127.0.0.1");
