/*
 * A shop: each page asks another server, which does not exist, for the price. PORT is where it listens; with SHOP_KEY and
 * SHOP_CERT it speaks https.
 */
import http from "node:http";
import https from "node:https";

const { SHOP_KEY: key, SHOP_CERT: cert, PORT } = process.env;

async function answer(request, response) {
  const { pathname } = new URL(request.url, "http://shop");
  if (pathname === "/") return void response.end("open");
  try {
    const found = await fetch(`http://prices.example${pathname}`, { headers: { authorization: "Bearer hush" } });
    const { price } = await found.json();
    response.setHeader("content-type", "text/html");
    response.end(`<title>Shop</title><p id="price">${price}</p>`);
  } catch (error) {
    response.statusCode = 502;
    response.end(`no price: ${error.cause?.code ?? error.message}`);
  }
}

const server = key ? https.createServer({ key, cert }, answer) : http.createServer(answer);
server.listen(PORT, "127.0.0.1");
