// A Node application: it asks a service for the price of a teapot.
import http from "node:http";

http
  .createServer(async (request, response) => {
    if (request.url !== "/teapots") return response.end("shop");
    const answer = await fetch("http://prices.example/teapots").catch((error) => error);
    response.end(answer.ok ? await answer.text() : "no price");
  })
  .listen(Number(process.env.SHOP_PORT), "127.0.0.1");
