/**
 * Run as a child: an application on https, with the certificate of the file PEM.
 *
 * Its page asks it for a price by fetch, and it asks a service that does not exist.
 * The address is printed as one JSON line.
 */
import { readFileSync } from "node:fs";
import https from "node:https";

const PAGE = `<p id="said"></p><script>
  fetch("/price").then((answer) => answer.text()).then((text) => (said.textContent = text));
</script>`;
const pem = readFileSync(process.env.PEM);

const server = https.createServer({ key: pem, cert: pem }, async (request, response) => {
  if (request.url !== "/price") return response.setHeader("content-type", "text/html").end(PAGE);
  const answer = await fetch("http://prices.test/teapot").catch(({ cause }) => new Response(String(cause)));
  response.end(await answer.text());
});

server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `https://127.0.0.1:${server.address().port}` }));
});
process.stdin.resume().on("end", () => process.exit());
