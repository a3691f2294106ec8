import http from "node:http";
import { createHash } from "node:crypto";
import { bodyOf } from "./announce.mjs";

const LARGEST_BODY_TOLD = 1_000_000;

/** An error and its causes, as plain data. */
export function tellError(error) {
  const { name, message, code, cause } = error;
  return { name, message, code, cause: cause ? tellError(cause) : undefined };
}

function tellBody(bytes) {
  const told = { bodyLength: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
  if (bytes.length > LARGEST_BODY_TOLD) return told;
  return { ...told, body: bytes.toString("utf8"), bodyBase64: bytes.toString("base64") };
}

async function byFetch({ url, method, headers, body, redirect }) {
  const response = await fetch(url, { method, headers, body, redirect });
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    statusText: response.statusText,
    headers: Object.fromEntries(response.headers),
    setCookie: response.headers.getSetCookie(),
    ...tellBody(bytes),
  };
}

async function byHttp({ url, method, headers, body }) {
  const response = await new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers }, resolve);
    // The agent's interceptor can emit a failure twice; unheard, it would end the process.
    request.on("error", reject);
    request.end(body);
  });
  const { statusCode, statusMessage } = response;
  const bytes = await bodyOf(response);
  return { status: statusCode, statusText: statusMessage, headers: response.headers, ...tellBody(bytes) };
}

/** Do what the command says; how it ended, as plain data. */
export async function outcomeOf(command) {
  try {
    return await (command.kind === "http" ? byHttp(command) : byFetch(command));
  } catch (error) {
    return { error: tellError(error) };
  }
}
