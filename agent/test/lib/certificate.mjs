import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate that no system trusts. */
export function selfSigned() {
  const directory = mkdtempSync(join(tmpdir(), "trafficmock-tls-"));
  const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(directory, name));
  const { status, stderr } = spawnSync("openssl", [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=localhost",
    "-addext",
    "subjectAltName=DNS:localhost,IP:127.0.0.1",
    "-keyout",
    key,
    "-out",
    cert,
  ]);
  assert.equal(status, 0, String(stderr));
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8"), file: cert };
}
