// Run as a child, `node http2_server.mjs FILE`: a server of HTTP/2 alone, with the key and certificate of FILE, whose
// answers have the names of the headers that it got. Its port is the first line.
import { createSecureServer } from "node:http2";
import { readFileSync } from "node:fs";

const pem = readFileSync(process.argv[2]);
const server = createSecureServer({ key: pem, cert: pem }, (request, response) => {
  response.end(`${request.httpVersion} ${Object.keys(request.headers).join(" ")}`);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit());
process.stdin.resume();
