import type { TrafficMock, TrafficMockOptions } from "./types.js";

/** The options of `connect`. */
export interface ConnectOptions {
  /** The name of the test in errors, in reports and in the history. */
  title: string;
  /** The file of the test, for the same places. */
  file?: string;
  /** The URL of the proxy. Default: `TRAFFICMOCK_PROXY_URL`, else `http://127.0.0.1:4310`. */
  proxyUrl?: string;
  /** The proxy's `--token`. Default: `TRAFFICMOCK_TOKEN`. */
  token?: string;
  /** The index of this process among the runner's workers. Default: `VITEST_WORKER_ID`, else `0`. */
  workerId?: string;
  /** The URL that relative globs are resolved against. */
  baseURL?: string;
  /** As `TrafficMockOptions.isolation`. Default: `auto`. */
  isolation?: TrafficMockOptions["isolation"];
  /** Whether requests of the test that no route matches are refused. Default: no. */
  strict?: TrafficMockOptions["strict"];
  /** What strict mode lets through: hosts, with a slash URL globs, and conditions. */
  allow?: TrafficMockOptions["allow"];
  /** Whether `end` fails if a route of the test met no request; a route's own `required` has precedence. Default: no. */
  required?: TrafficMockOptions["required"];
  /**
   * Whether this process is attached, for an application that the test calls in it; the test is then current in the function
   * that calls `connect` and awaits it. A process that is attached stays so. Default: `TRAFFICMOCK_ATTACH_SELF`, else whether
   * the process is attached by `attachSelf` or an earlier test.
   */
  attachSelf?: boolean;
}

/** The options of `attachSelf`. */
export interface AttachSelfOptions {
  /** The URL of the proxy. Default: `TRAFFICMOCK_PROXY_URL`, else `http://127.0.0.1:4310`. */
  proxyUrl?: string;
  /** The proxy's `--token`. Default: `TRAFFICMOCK_TOKEN`. */
  token?: string;
  /** The name of the application, for the `clientId` of routes. Default: `TRAFFICMOCK_CLIENT_ID`, else its package's name. */
  clientId?: string;
  /** Hosts that this process reaches past the proxy, such as `localhost:5432`. Default: `TRAFFICMOCK_IGNORE_HOSTS`. */
  ignoreHosts?: string[];
}

/** A process that is attached for its tests. */
export interface SelfAttachment {
  /** The client id that the proxy has accepted. */
  readonly clientId: string;
  /** Restores the clients of this process. One that `trafficmock run` has started stays attached. */
  stop(): Promise<void>;
}

/** The mocks of a test that `connect` has registered, and `end` ends. */
export interface ConnectedTrafficMock extends TrafficMock {
  /**
   * Runs a function in which this test is current, with all that it starts. For hooks around a test, as Vitest's `aroundEach`;
   * this process is attached.
   */
  run<T>(act: () => T): T;
  /** Ends the test: removes its routes, and throws the errors that `takeErrors` has not taken. */
  end(options?: EndOptions): Promise<void>;
}

/** What the report of the run (`TRAFFICMOCK_REPORT`) is told about a test; nothing else needs it. */
export interface EndOptions {
  /**
   * Whether the test has failed. Tests that passed are not in a report. A test of which nobody says so is in it, and one
   * whose mocks have errors, too. Jest 30 says so by itself.
   */
  readonly failed?: boolean;
  /** The error that the test failed with. */
  readonly error?: unknown;
}

/**
 * Registers a test with the proxy. The tests of a process share one connection.
 *
 * The promise is rejected with a `ConnectionError` if no proxy answers or it refuses this process, and with a
 * `UsageError` if an option is invalid or the proxy lacks a feature that it needs.
 */
export function connect(options: ConnectOptions): Promise<ConnectedTrafficMock>;

/**
 * Attaches this process to the proxy, for applications that tests call in it: its clients' requests are decided by routes.
 * Tests that `connect` registers are then current where they run, so that their requests need no headers.
 *
 * The promise is rejected with a `ConnectionError` if no proxy answers, and with a `UsageError` if an option is invalid or the
 * process is attached to another proxy.
 */
export function attachSelf(options?: AttachSelfOptions): Promise<SelfAttachment>;
