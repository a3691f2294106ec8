// @ts-check
/** Requests to the dashboard's own process, which forwards them to the proxy; a saved page answers them itself. */

import { run, savedAnswer } from "./saved.js";

/** A request failed; the message is for people. */
export class ApiError extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/**
 * Request a JSON resource.
 *
 * @param {string} path
 * @param {{tag?: string, signal?: AbortSignal}} [how] `tag`: the entity tag of the present version
 * @returns {Promise<{body: any, tag: string} | null>} `null`: the present version is the newest
 * @throws {ApiError} the dashboard or the proxy does not answer, or answers with an error
 */
export async function ask(path, { tag = "", signal } = {}) {
  if (run) return saved(path);
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, {
      headers: tag ? { "if-none-match": tag } : {},
      cache: "no-store",
      credentials: "omit",
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("dashboard_away", "The dashboard's own process does not answer.");
  }
  if (response.status === 304) return null;
  const body = await readJson(response);
  if (!response.ok) {
    throw new ApiError(body.error ?? String(response.status), body.message ?? body.error ?? response.statusText);
  }
  return { body, tag: response.headers.get("etag") ?? "" };
}

/** @param {string} path @throws {ApiError} the data of the page does not have it */
function saved(path) {
  const answer = savedAnswer(path);
  if (answer) return answer;
  throw new ApiError("not_found", "The report does not have it.");
}

/** @param {Response} response @returns {Promise<any>} */
async function readJson(response) {
  try {
    return await response.json();
  } catch {
    throw new ApiError("broken_answer", "An answer broke off, or is no JSON.");
  }
}

/** @param {string} list `history` or `ws` @param {string} id */
export function entryPath(list, id) {
  return `/api/${list}/${encodeURIComponent(id)}`;
}
