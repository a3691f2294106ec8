import zlib from "node:zlib";
import { APIS } from "./apis.mjs";
import { answer, json } from "./reply.mjs";
import { shown } from "./shown.mjs";

/** How often each URL that fails at first was asked. */
const times = new Map();
export const forget = () => times.clear();
function count(key) {
  times.set(key, (times.get(key) ?? 0) + 1);
  return times.get(key);
}

const TEXT_TYPE = ["Content-Type", "text/plain; charset=utf-8"];

const coded = (coding, body, query) =>
  answer(200, body, [TEXT_TYPE, ["Content-Encoding", coding]], query.has("chunked") ? "chunked" : "whole");
const PACKED = "packed text, ".repeat(40);

const PATHS = {
  echo: ({ method, url, body }) => json({ method, url, body: shown(body) }),
  json: () => json({ found: true, list: [1, 2, 3], text: "grün" }),
  text: () => answer(200, "plain text", [TEXT_TYPE, ["X-Case", "Kept"], ["X-Twice", "1"], ["X-Twice", "2"]]),
  gzip: (_, query) => coded("gzip", zlib.gzipSync(PACKED), query),
  br: (_, query) => coded("br", zlib.brotliCompressSync(PACKED), query),
  deflate: (_, query) => coded("deflate", zlib.deflateSync(PACKED), query),
  chunked: () => answer(200, "a body in several chunks", [TEXT_TYPE], "chunked"),
  events: () =>
    answer(200, "data: 1\n\ndata: 2\n\nevent: end\ndata: 3\n\n", [["Content-Type", "text/event-stream"]], "chunked"),
  cookies: () =>
    answer(200, "cookies", [
      ["Set-Cookie", "a=1; Path=/"],
      ["X-Between", "yes"],
      ["Set-Cookie", "b=2; Path=/"],
    ]),
  status: ({ parts }) =>
    answer(Number(parts[1]), parts[1] === "204" || parts[1] === "304" ? "" : `status ${parts[1]}`, [TEXT_TYPE]),
  length: ({ parts }) =>
    answer(Number(parts[1]), "", [
      ["Content-Length", "1234"],
      ["ETag", '"x"'],
    ]),
  head: () =>
    answer(200, "x".repeat(1234), [
      ["Content-Length", "1234"],
      ["X-Head", "yes"],
    ]),
  redirect: ({ parts }, query) => answer(Number(parts[1]), "moved", [["Location", query.get("to") ?? "/echo"]]),
  large: ({ parts }) =>
    answer(200, Buffer.alloc(Number(parts[1]), "0123456789abcdef"), [["Content-Type", "application/octet-stream"]]),
  hints: () => ({ ...answer(200, "after hints", [TEXT_TYPE]), hints: [{ link: "</a.css>; rel=preload" }] }),
  etag: ({ headers }) =>
    headers.some(([name]) => name.toLowerCase() === "if-none-match")
      ? answer(304, "", [["ETag", '"1"']])
      : answer(200, "tagged", [
          ["ETag", '"1"'],
          ["Cache-Control", "max-age=0"],
        ]),
  login: ({ headers }) =>
    headers.some(([name]) => name.toLowerCase() === "authorization")
      ? json({ authorization: headers.find(([name]) => name.toLowerCase() === "authorization")[1] })
      : answer(401, "who are you?", [["WWW-Authenticate", 'Basic realm="bench"']]),
  /** /flaky/STATUS/TIMES: fails so often, and then is well. */
  flaky: ({ parts, url, method }) => {
    const number = count(method + url);
    return number > Number(parts[2])
      ? answer(200, `well at ${number}`, [TEXT_TYPE])
      : answer(Number(parts[1]), `ill at ${number}`, [TEXT_TYPE, ["Retry-After", "0"]]);
  },
  graphql: ({ parts }) =>
    json(
      parts[1] === "errors"
        ? { errors: [{ message: "not allowed" }] }
        : { data: { viewer: { login: "me", __typename: "User" }, rename: { login: "you", __typename: "User" } } },
    ),
  stall: () => answer(0, "", [], "stall"),
  unfinished: () => answer(200, "the start of", [TEXT_TYPE], "unfinished"),
  cut: () => answer(200, "the start of", [TEXT_TYPE, ["Content-Length", "100"]], "cut"),
  reset: () => answer(0, "", [], "reset"),
};

/**
 * What this server says to a request, whoever it is that asks.
 * @param {{ method: string, host: string, url: string, headers: string[][], body: Buffer }} request `url` is the target
 */
export function answerTo(request) {
  const { pathname, searchParams } = new URL(request.url, "http://any.test");
  const parts = pathname.slice(1).split("/");
  const asked = { ...request, parts };
  const api = APIS[request.host.split(":")[0]];
  if (request.host.startsWith("unknown.")) return answer(0, "", [], "unknown");
  const found = api ? api(asked, searchParams, count) : PATHS[parts[0]]?.(asked, searchParams);
  return found ?? json({ error: { message: `nothing at ${pathname}`, type: "not_found" } }, 404);
}
