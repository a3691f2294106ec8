// @ts-check
/** Failures of the real server. */

const CODE = /\b(?!ERROR\b)(?:E[A-Z]{3,}|[A-Z]+(?:_[A-Z0-9]+)+)\b/;

/**
 * Find the error code in what an application says of a failed connection.
 *
 * @param {string} detail like `getaddrinfo EAI_AGAIN api.example`
 * @returns {string} `unreachable` when it names none
 */
export function upstreamCode(detail) {
  return CODE.exec(detail)?.[0] ?? "unreachable";
}

/**
 * Find why an entry got no response from upstream.
 *
 * @param {{kind: string, detail?: string}[]} events of the entry, oldest first
 * @returns {string | undefined} `undefined`: upstream did not fail, or a later response came
 */
export function upstreamError(events) {
  const last = events.findLast(({ kind }) => kind === "response" || kind === "upstream_error");
  return last?.kind === "upstream_error" ? (last.detail ?? "") : undefined;
}
