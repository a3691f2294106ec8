/**
 * Make an answer.
 * @param {number} status
 * @param {string | Buffer} body
 * @param {string[][]} headers
 * @param {'whole' | 'chunked' | 'unfinished' | 'cut' | 'stall' | 'reset' | 'unknown'} kind how it is sent
 */
export const answer = (status, body, headers, kind = "whole") => ({
  status,
  headers,
  kind,
  body: Buffer.from(body).toString("latin1"),
});
export const json = (value, status = 200, ...headers) =>
  answer(status, JSON.stringify(value), [["Content-Type", "application/json"], ...headers]);
/** A stream of events, or another text in chunks. */
export const lines = (texts, type = "text/event-stream") =>
  answer(200, texts.join(""), [["Content-Type", type]], "chunked");
