// @ts-check
/** Errors of requests to the real server. */

const CODE = /\b(?!ERROR\b)(?:E[A-Z]{3,}|[A-Z]+(?:_[A-Z0-9]+)+)\b/;

/**
 * Return the error code in the message of a failed connection.
 *
 * @param {string} detail like `getaddrinfo EAI_AGAIN api.example`
 * @returns {string} `unreachable` if there is no code
 */
export function upstreamCode(detail) {
  return CODE.exec(detail)?.[0] ?? "unreachable";
}

/**
 * Return the error of an entry's request to the server.
 *
 * @param {{kind: string, detail?: string}[]} events of the entry, oldest first
 * @returns {string | undefined} `undefined`: there was no error, or a later attempt was answered
 */
export function upstreamError(events) {
  const last = events.findLast(({ kind }) => kind === "response" || kind === "upstream_error");
  return last?.kind === "upstream_error" ? (last.detail ?? "") : undefined;
}
