/**
 * The real network of the end-to-end tests: what the app's requests reach
 * when no test mocks them.
 */
import http from "node:http";
import { setTimeout } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { announce, bodyOf, endWithParent, listen } from "./lib/announce.mjs";
import { MeetingPoints } from "./lib/meeting.mjs";
import { serveWebSockets } from "./lib/upstream-websockets.mjs";

/** Between the two pieces of the page `slowly`. */
const PAUSE_MS = 200;

const meetings = new MeetingPoints();
const seen = [];
const resets = new Map();

function send(response, status, body, headers = {}) {
  response.writeHead(status, { "content-type": "text/plain", ...headers });
  response.end(body);
}

const json = (response, value, status = 200) =>
  send(response, status, JSON.stringify(value), { "content-type": "application/json" });

/** `/redirect/2/name?status=307` leads over two hops to `/redirect/0/name`. */
function redirect({ url, response }) {
  const [, , left, name] = url.pathname.split("/");
  if (Number(left) === 0) return send(response, 200, `end of ${name}`);
  const next = `/redirect/${left - 1}/${name}${url.search}`;
  return send(response, Number(url.searchParams.get("status") ?? 302), "", { location: next });
}

/** `/reset/name?times=2` cuts the first two connections, then answers. */
function reset({ url, request, response }) {
  const count = (resets.get(url.pathname) ?? 0) + 1;
  resets.set(url.pathname, count);
  if (count <= Number(url.searchParams.get("times") ?? 1)) return request.socket.resetAndDestroy();
  return json(response, { attempts: count });
}

/** `/meet/name?count=2` answers when two requests for it are here. */
async function meet({ url, response }) {
  await meetings.arrive(url.pathname, Number(url.searchParams.get("count") ?? 2));
  send(response, 200, "met");
}

/** `/held/name` answers after `/meet/name-release?count=1`; it calls `/meet/name-held` itself. */
async function held({ url, response }) {
  const name = url.pathname.split("/")[2];
  meetings.arrive(`/meet/${name}-held`, 2);
  await meetings.arrive(`/meet/${name}-release`, 2);
  send(response, 200, "released");
}

const pages = {
  echo: ({ request, url, body, response }) =>
    json(response, {
      method: request.method,
      path: url.pathname + url.search,
      headers: request.headers,
      body: body.toString("utf8"),
    }),
  json: ({ response }) => json(response, { from: "upstream", items: [1, 2] }),
  gzip: ({ response }) => send(response, 200, gzipSync("a text that was compressed"), { "content-encoding": "gzip" }),
  slowly: async ({ response }) => {
    response.write("one");
    await setTimeout(PAUSE_MS);
    response.end("two");
  },
  empty: ({ response }) => response.writeHead(204).end(),
  cookies: ({ response }) => {
    response.setHeader("set-cookie", ["a=1; Path=/", "b=2; Path=/"]);
    send(response, 200, "two cookies");
  },
  "redirect-to": ({ url, response }) => send(response, 302, "", { location: url.searchParams.get("url") }),
  seen: ({ url, response }) =>
    json(
      response,
      seen.filter((s) => s.path === url.searchParams.get("path")),
    ),
  page: ({ response }) => send(response, 200, "<!doctype html><title>page</title>", { "content-type": "text/html" }),
  redirect,
  reset,
  meet,
  held,
};

async function answer(request, response) {
  const url = new URL(request.url, "http://upstream");
  const body = await bodyOf(request);
  seen.push({ method: request.method, path: url.pathname, body: body.toString("utf8") });
  const page = pages[url.pathname.split("/")[1]];
  if (page === undefined) return send(response, 404, "no such page");
  return page({ request, response, url, body });
}

const server = http.createServer((request, response) => {
  answer(request, response).catch((error) => send(response, 500, String(error)));
});
serveWebSockets(server);
endWithParent();
announce({ url: await listen(server) });
