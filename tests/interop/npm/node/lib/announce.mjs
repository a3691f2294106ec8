/** Tell the parent process, in one JSON line, where this one can be reached. */
export function announce(facts) {
  process.stdout.write(`${JSON.stringify(facts)}\n`);
}

/** End with the parent: a test run that was killed leaves nobody behind. */
export function endWithParent() {
  process.stdin.on("end", () => process.exit(0));
  process.stdin.on("error", () => process.exit(0));
  process.stdin.resume();
}

/** Listen on a free loopback port; resolves to the base URL. */
export function listen(server) {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}`));
  });
}

/** The whole body of an incoming request or response. */
export async function bodyOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
