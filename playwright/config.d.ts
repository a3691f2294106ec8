export interface ProxyServerOptions {
  /** Base URL of the proxy. Default: `TRAFFICMOCK_PROXY_URL`, else `http://127.0.0.1:4310`. */
  proxyUrl?: string;
  token?: string;
  /** The proxy refuses from its start what no route wants. The same as `trafficmockStrict` of `use`. */
  strict?: { allow?: readonly string[] };
  /** Options of `trafficmock serve`. */
  args?: readonly string[];
  /** Whatever else an item of `webServer` has. */
  [key: string]: unknown;
}

export interface ProxyServer {
  name: string;
  command: string;
  url: string;
  reuseExistingServer: boolean;
  timeout: number;
  env?: Record<string, string>;
}

/** An item for `webServer` that starts the proxy, unless it runs already. */
export function proxyServer(options?: ProxyServerOptions): ProxyServer;

export interface AttachedOptions {
  /** How routes, reports and the history name the application. */
  clientId?: string;
  /** Base URL of the proxy. Default: `TRAFFICMOCK_PROXY_URL`, else `http://127.0.0.1:4310`. */
  proxyUrl?: string;
  token?: string;
  /** Options of `trafficmock env`. */
  args?: readonly string[];
}

/** The environment of an application that is to be attached: what `trafficmock env` prints. */
export function attached(options?: AttachedOptions): Record<string, string>;
