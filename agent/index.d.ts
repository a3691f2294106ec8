export interface TrafficMockOptions {
  /** Base URL of the proxy, such as `http://127.0.0.1:4310`. Default: `TRAFFICMOCK_PROXY_URL`; without either nothing is done. */
  proxyUrl?: string;
  /** The proxy's `--token`. Default: `TRAFFICMOCK_TOKEN`. */
  token?: string;
  /** How tests and the history name this process. Default: `TRAFFICMOCK_CLIENT_ID`, the application's package name, or `node-<pid>`. */
  clientId?: string;
  /** Whose WebSockets are intercepted: those of `globalThis.WebSocket`, or all, npm `ws` included. Default: `TRAFFICMOCK_WEBSOCKET`, or `global`. */
  webSocket?: "global" | "all";
  /** Hosts whose requests are left alone, such as `*.sentry.io`, `localhost:4318` or `::1`. Default: `TRAFFICMOCK_IGNORE_HOSTS`, separated by commas. */
  ignoreHosts?: string[];
}

export interface TrafficMock {
  /** The id the proxy accepted. */
  readonly clientId: string;
  /** Detach: pending requests fail, everything patched is put back. */
  stop(): Promise<void>;
}

/**
 * Attach this process to a trafficmock proxy.
 *
 * Resolves once the proxy has answered. Rejects within two seconds with an
 * error whose `code` begins with `ERR_TRAFFICMOCK_`; then nothing is patched.
 */
export function startTrafficMock(options?: TrafficMockOptions): Promise<TrafficMock>;
