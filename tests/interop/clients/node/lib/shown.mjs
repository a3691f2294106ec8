import { createHash } from "node:crypto";

const MOST = 3000;

/** A body as the log has it: its text, or of a large one the size and a checksum. */
export function shown(body) {
  if (body.length <= MOST) return body.toString("latin1");
  return `${body.length} bytes, ${createHash("sha256").update(body).digest("hex").slice(0, 16)}`;
}
