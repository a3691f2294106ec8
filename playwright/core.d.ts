import type { TrafficMock, TrafficMockOptions } from "./types.js";

export interface ConnectOptions {
  /** How the test is called in reports, in the history and to other tests. */
  title: string;
  /** Where it stands. */
  file?: string;
  /** Base URL of the proxy. Default: `TRAFFICMOCK_PROXY_URL`, else `http://127.0.0.1:4310`. */
  proxyUrl?: string;
  /** The proxy's `--token`. Default: `TRAFFICMOCK_TOKEN`. */
  token?: string;
  /** The index of this process among the runner's workers. */
  workerId?: string;
  /** What relative globs are resolved against. */
  baseURL?: string;
  isolation?: TrafficMockOptions["isolation"];
  strict?: TrafficMockOptions["strict"];
  allow?: TrafficMockOptions["allow"];
}

export interface ConnectedTrafficMock extends TrafficMock {
  /** End the test: its routes are removed, and what went wrong and was not taken is thrown. */
  end(): Promise<void>;
}

/**
 * Register a test with the proxy. The tests of a process share one connection.
 *
 * Rejects when there is no proxy, or when it refuses this process.
 */
export function connect(options: ConnectOptions): Promise<ConnectedTrafficMock>;
