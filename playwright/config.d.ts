/** The properties of an item of Playwright's `webServer`, which replace those of `proxyServer`. */
export interface WebServerOptions {
  /** The name in the output of Playwright. Default: `trafficmock`. */
  name?: string;
  /** The command that starts the proxy. Default: `trafficmock serve` with the options above. */
  command?: string;
  /** The URL that answers once the proxy runs. Default: `/health` of the proxy. */
  url?: string;
  /** The port that takes connections once the proxy runs, in the place of `url`. */
  port?: number;
  /** The directory in which the command runs. Default: that of the configuration. */
  cwd?: string;
  /** Variables of the environment of the command. Default: the token, if there is one. */
  env?: Record<string, string>;
  /** Milliseconds that the proxy has to start. Default: 30,000. */
  timeout?: number;
  /** Whether a proxy that runs already is used. Default: `true`. */
  reuseExistingServer?: boolean;
  /** Whether the certificate of `url` is not checked. Default: `false`. */
  ignoreHTTPSErrors?: boolean;
  /** The signal that ends the proxy, and the milliseconds that it has. Default: it is killed. */
  gracefulShutdown?: { signal: "SIGINT" | "SIGTERM"; timeout: number };
  /** Whether what the proxy writes is shown. Default: `ignore`. */
  stdout?: "pipe" | "ignore";
  /** Whether the errors that the proxy writes are shown. Default: `pipe`. */
  stderr?: "pipe" | "ignore";
  /** Text that the proxy writes once it runs, in the place of `url`. */
  wait?: { stdout?: RegExp; stderr?: RegExp };
}

/** The options of `proxyServer`. */
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

/** The item of `webServer` that `proxyServer` makes. */
export interface ProxyServer {
  /** The name in the output of Playwright. */
  name: string;
  /** The command that starts the proxy. */
  command: string;
  /** The URL that answers once the proxy runs. */
  url: string;
  /** Whether a proxy that runs already is used. */
  reuseExistingServer: boolean;
  /** Milliseconds that the proxy has to start. */
  timeout: number;
  /** The token, if there is one. */
  env?: Record<string, string>;
}

/**
 * Makes an item for `webServer` that starts the proxy, unless it runs already. Throws if the command `trafficmock` is
 * not installed.
 */
export function proxyServer(options?: ProxyServerOptions): ProxyServer;

/** The options of `attached`. */
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
