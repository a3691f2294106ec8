/* An attached application: GET /run?count=N&together=M sends N requests to a mocked URL, M at once, and returns the ms. */
import { createServer } from "node:http";

createServer(async (request, response) => {
  const { searchParams } = new URL(request.url, "http://app");
  let left = Number(searchParams.get("count"));
  const began = performance.now();
  const ask = async () => {
    while ((left -= 1) >= 0) await (await fetch("http://prices.example/price", { headers: {} })).text();
  };
  await Promise.all(Array.from({ length: Number(searchParams.get("together")) }, ask));
  response.end(String(performance.now() - began));
})
  .listen(0, "127.0.0.1")
  .on("listening", function listening() {
    process.stdout.write(`${this.address().port}\n`);
  });
