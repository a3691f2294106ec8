import { fetchCalls } from "../../lib/fetch-calls.mjs";

type Calls = Record<string, () => Promise<unknown>>;

/** A few calls from a file that Node 20 cannot read by itself. */
export const calls: Calls = Object.fromEntries(
  Object.entries(fetchCalls(fetch) as Calls).filter(([name]) => /^(get|post|redirects|status 404)/.test(name)),
);
