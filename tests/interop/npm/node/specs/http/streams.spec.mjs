/** An app attached by trafficmock's own agent: its bodies arrive bit by bit. */
import { spawn } from "node:child_process";
import http from "node:http";
import { fileURLToPath } from "node:url";
import { answered, expect, fresh, row, test } from "../../lib/fixtures.mjs";
import { listen } from "../../lib/announce.mjs";
import { proxyUrl } from "../../lib/proxy.mjs";

const REGISTER = fileURLToPath(new URL("../../../../../../agent/register.js", import.meta.url));

/** Run code in an app of its own; resolves to what it printed. */
function run(code, url) {
  const env = { ...process.env, TARGET: url, TRAFFICMOCK_PROXY_URL: proxyUrl };
  const child = spawn(process.execPath, ["--require", REGISTER, "-e", code], { env });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
  return new Promise((resolve) => child.on("close", () => resolve(said)));
}

const UPLOAD = `
  async function * pieces () {
    for (let i = 0; i < 100; i += 1) {
      yield Buffer.alloc(1000, String(i % 10))
      await new Promise(setImmediate)
    }
  }
  fetch(process.env.TARGET, { method: 'POST', body: ReadableStream.from(pieces()), duplex: 'half' })
    .then(async (response) => process.stdout.write(await response.text()))
`;
const WHOLE = Array.from({ length: 100 }, (_, i) => String(i % 10).repeat(1000)).join("");

test("a handler gets an upload whole", async ({ backendMocks }) => {
  const url = fresh("echo");
  const told = [];
  await backendMocks.route(url, (route, request) => {
    told.push(request.postData());
    return route.fulfill({ body: "mocked" });
  });
  expect(await run(UPLOAD, url)).toBe("mocked");
  expect(told).toEqual([WHOLE]);
});

test("a predicate is asked first, and its handler gets the upload whole", async ({ backendMocks }) => {
  const url = fresh("echo");
  await backendMocks.route(
    (asked) => asked.href === url,
    (route, request) => route.fulfill({ body: `${request.postData().length}` }),
  );
  expect(await run(UPLOAD, url)).toBe("100000");
});

test("waiters see an upload and a stream that pass through, whole", async ({ backendMocks }) => {
  const server = http.createServer(async (request, response) => {
    for await (const _ of request);
    response.write("data: 1\n\n");
    // The npm proxy is told of a response when it is whole.
    if (process.env.E2E_TARGET === "ours") await row(url, answered, "the head");
    response.end("data: 2\n\n");
  });
  const url = `${await listen(server)}/events`;
  const [request, response, said] = await Promise.all([
    backendMocks.waitForRequest(url),
    backendMocks.waitForResponse(url),
    run(UPLOAD, url),
  ]);
  server.close();
  expect(said).toBe("data: 1\n\ndata: 2\n\n");
  expect(request.postData()).toBe(WHOLE);
  expect(await response.text()).toBe(said);
});
