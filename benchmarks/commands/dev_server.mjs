// A dev server whose page imports COUNT modules, one file each: `node dev_server.mjs COUNT` prints {"port": …}.
import http from "node:http";

const count = Number(process.argv[2]);
const imports = Array.from({ length: count }, (_, number) => `import "/module/${number}.js";`).join("\n");
const module = `export const text = ${JSON.stringify("x".repeat(2000))};\n`;

const answers = [
  ["/module/", "text/javascript", module],
  ["/main.js", "text/javascript", imports],
  ["/", "text/html", `<!doctype html><script type="module" src="/main.js"></script>`],
];

const server = http.createServer((request, response) => {
  const [, type, body] = answers.find(([prefix]) => request.url.startsWith(prefix));
  response.writeHead(200, { "content-type": type, "cache-control": "no-cache" }).end(body);
});
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
process.stdin.on("end", () => process.exit()).resume();
