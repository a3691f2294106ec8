/** Read-only views of the proxy under test, over its REST API. */
export const proxyUrl = process.env.E2E_PROXY_URL;

const DEADLINE_MS = 8000;
const POLL_MS = 25;

export async function rest(path) {
  const response = await fetch(new URL(path, proxyUrl));
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Ask again until the answer is what the test waits for. */
export async function until(ask, satisfied, what) {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const answer = await ask();
    if (satisfied(answer)) return answer;
    if (Date.now() > deadline) {
      throw new Error(`never came: ${what}; last seen: ${JSON.stringify(answer).slice(0, 2000)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Rows of the HTTP history whose URL is exactly this one, newest first. */
export async function rows(url) {
  const { body } = await rest("/api/history");
  return body.entries.filter((entry) => entry.request.url === url);
}

/** The newest row of this URL, once it satisfies the test. */
export async function row(url, satisfied = settled, what = "a settled row") {
  const found = await until(
    () => rows(url),
    (entries) => entries.length > 0 && satisfied(entries[0]),
    `${what} for ${url}`,
  );
  return found[0];
}

export const settled = (entry) => entry.outcome.kind !== "pending";
export const answered = (entry) => entry.outcome.response !== undefined;

/** The row of a WebSocket with this URL, once it satisfies the test. */
export async function socketRow(url, satisfied = (c) => c.outcome !== "pending") {
  const found = await until(
    async () => (await rest("/api/ws")).body.connections.filter((c) => c.url === url),
    (connections) => connections.length > 0 && satisfied(connections[0]),
    `a row of the socket ${url}`,
  );
  return found[0];
}

export async function har(id, query = "") {
  return rest(`/api/history/${encodeURIComponent(id)}/har${query}`);
}
