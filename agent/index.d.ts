export interface TrafficMockOptions {
  /**
   * The URL of the proxy, such as `http://127.0.0.1:4310`. Default: `TRAFFICMOCK_PROXY_URL`. Without both, the
   * process is not attached.
   */
  proxyUrl?: string;
  /** The proxy's `--token`. Default: `TRAFFICMOCK_TOKEN`. */
  token?: string;
  /**
   * The name of this process for routes and in the history. Default: `TRAFFICMOCK_CLIENT_ID`, the application's
   * package name, or `node-<pid>`.
   */
  clientId?: string;
  /**
   * The WebSockets that are intercepted: all, including those of npm `ws`, or only those of `globalThis.WebSocket`.
   * Default: `TRAFFICMOCK_WEBSOCKET`, or `all`.
   */
  webSocket?: "global" | "all";
  /**
   * Hosts whose requests are not intercepted, such as `*.sentry.io`, `localhost:4318` or `::1`. Default:
   * `TRAFFICMOCK_IGNORE_HOSTS`, separated by commas.
   */
  ignoreHosts?: string[];
}

export interface TrafficMock {
  /** The client id that the proxy has accepted. */
  readonly clientId: string;
  /**
   * Detach this process: requests that wait for a decision fail, and all patches are undone. An agent that a preload
   * has attached (`trafficmock run`, `NODE_OPTIONS`) stays attached.
   */
  stop(): Promise<void>;
}

/**
 * Attach this process to a trafficmock proxy.
 *
 * The promise is resolved when the proxy has accepted the connection. It is rejected within two
 * seconds by an error whose `code` begins with `ERR_TRAFFICMOCK_`; then nothing is patched. An
 * invalid option rejects it with a `TypeError`.
 */
export function startTrafficMock(options?: TrafficMockOptions): Promise<TrafficMock>;
