import http from "node:http";

const server = http.createServer(async (request, response) => {
  try {
    const answer = await fetch(`http://prices.test${request.url}`);
    response.end(await answer.text());
  } catch (error) {
    response.writeHead(502).end(error.cause?.code);
  }
});

server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`Local: http://127.0.0.1:${server.address().port}`);
});
