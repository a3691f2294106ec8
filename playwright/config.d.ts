/** The properties of an item of Playwright's `webServer`, which replace those of `proxyServer`. */
export interface WebServerOptions {
  name?: string;
  command?: string;
  url?: string;
  port?: number;
  cwd?: string;
  env?: Record<string, string>;
  /** Milliseconds that the proxy has to start. Default: 30,000. */
  timeout?: number;
  reuseExistingServer?: boolean;
  ignoreHTTPSErrors?: boolean;
  gracefulShutdown?: { signal: "SIGINT" | "SIGTERM"; timeout: number };
  stdout?: "pipe" | "ignore";
  stderr?: "pipe" | "ignore";
  wait?: { stdout?: RegExp; stderr?: RegExp };
}

export interface ProxyServerOptions extends WebServerOptions {
  /**
   * The URL of the proxy, which the fixtures and `attached` then know too. Default: `TRAFFICMOCK_PROXY_URL`, else
   * `http://127.0.0.1:4310`.
   */
  proxyUrl?: string;
  /** The proxy's `--token`. Default: `TRAFFICMOCK_TOKEN`. */
  token?: string;
  /**
   * The proxy refuses requests that no route matches, from its start, except those to `allow`: hosts and URL globs.
   * Use the same as `trafficmockStrict` of `use`.
   */
  strict?: { allow?: readonly string[] };
  /** More options of `trafficmock serve`. */
  args?: readonly string[];
}

export interface ProxyServer {
  name: string;
  command: string;
  url: string;
  reuseExistingServer: boolean;
  timeout: number;
  env?: Record<string, string>;
}

/**
 * Makes an item for `webServer` that starts the proxy, unless it runs already. Throws if the command `trafficmock` is
 * not installed.
 */
export function proxyServer(options?: ProxyServerOptions): ProxyServer;

export interface AttachedOptions {
  /** The name of the application for routes, in reports and in the history. */
  clientId?: string;
  /** The URL of the proxy. Default: `TRAFFICMOCK_PROXY_URL`, else `http://127.0.0.1:4310`. */
  proxyUrl?: string;
  /** The proxy's `--token`. Default: `TRAFFICMOCK_TOKEN`. */
  token?: string;
  /** More options of `trafficmock env`. */
  args?: readonly string[];
}

/**
 * Makes the variables of an attached application's environment, as `trafficmock env` prints them. Throws if the
 * command fails.
 */
export function attached(options?: AttachedOptions): Record<string, string>;
