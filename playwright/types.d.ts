/** A condition on the URL: a glob as in Playwright, a RegExp, a predicate over the parsed URL, or a URLPattern. */
export type UrlMatcher = string | RegExp | ((url: URL) => boolean) | URLPatternLike;

/** A `URLPattern` of Node or of a polyfill. */
export interface URLPatternLike {
  test(url: string): boolean;
  readonly pathname: string;
  readonly hostname: string;
}

/** Conditions that must all hold; without `url`, every URL matches. */
export interface RouteFilter {
  readonly url?: UrlMatcher;
  /** The method or methods, in any case. */
  readonly method?: string | readonly string[];
  /** The client id or ids of the applications. */
  readonly clientId?: string | readonly string[];
}

export type RouteMatcher = UrlMatcher | RouteFilter;

/** Decides a request, or passes it to the next handler. */
export type RouteHandler = (route: Route, request: Request) => unknown;

export type WebSocketRouteHandler = (webSocket: WebSocketRoute) => unknown;

export interface RouteOptions {
  /** How many requests the handler gets before it is removed. Default: no limit. */
  readonly times?: number;
}

export interface UnrouteAllOptions {
  /**
   * For handlers that still run: `default` sends their requests upstream, unless strict mode refuses them, `wait`
   * waits until they return, `ignoreErrors` ignores their errors from now on.
   */
  readonly behavior?: "default" | "wait" | "ignoreErrors";
}

/** Changes of a request; absent parts are unchanged. */
export interface ContinueOptions {
  /** Another URL; for `continue` and `fallback` of the same scheme. */
  readonly url?: string;
  readonly method?: string;
  /** All headers of the request; a header with `undefined` is left out. */
  readonly headers?: Record<string, string | undefined>;
  /** Another body; an object is sent as JSON. */
  readonly postData?: string | Uint8Array | object | null;
}

export interface FetchOptions extends ContinueOptions {
  /** Milliseconds; 0 for no limit. Default: 30,000. */
  readonly timeout?: number;
  /** How many redirects are followed; one more is an error. With 0, a redirect is the response. Default: 20. */
  readonly maxRedirects?: number;
  /** How often the request is repeated after a reset connection. Default: 0. */
  readonly maxRetries?: number;
  /** Aborts the wait for the response. */
  readonly signal?: AbortSignal;
}

export interface FulfillOptions {
  /** 200 to 599. Default: that of `response`, else 200. */
  readonly status?: number;
  /** The reason phrase. Default: that of `response` if its status is used, else the standard one. */
  readonly statusText?: string;
  /** All headers; values are converted to strings. Default: those of `response`. */
  readonly headers?: Record<string, string | number | boolean | undefined>;
  readonly body?: string | Uint8Array;
  /** A value that is sent as JSON, in the place of `body`. */
  readonly json?: unknown;
  readonly contentType?: string;
  /** A file whose content is the body; its extension gives the content type. */
  readonly path?: string;
  /** A response of `route.fetch()`; the other options replace its parts. */
  readonly response?: Response;
}

/** A fixed response, as for `route.fulfill`; a file is read by the call of `mock`. */
export interface MockOptions extends Omit<FulfillOptions, "response"> {
  /** How many requests it answers. Default: no limit. */
  readonly times?: number;
}

export type AbortErrorCode =
  | "aborted"
  | "accessdenied"
  | "addressunreachable"
  | "blockedbyclient"
  | "blockedbyresponse"
  | "connectionaborted"
  | "connectionclosed"
  | "connectionfailed"
  | "connectionrefused"
  | "connectionreset"
  | "failed"
  | "internetdisconnected"
  | "namenotresolved"
  | "timedout";

export interface WaitOptions {
  /** Milliseconds; 0 for no limit. Default: 30,000. */
  readonly timeout?: number;
  /** Aborts the wait. */
  readonly signal?: AbortSignal;
}

export interface RouteFromHAROptions {
  /** The requests that the HAR answers. Default: all. */
  readonly url?: UrlMatcher;
  /** For requests that are not in the HAR: `abort` (default) fails them, `fallback` passes them to the next handler. */
  readonly notFound?: "abort" | "fallback";
  /** Fetch the responses from upstream, and write the HAR at the end of the test. */
  readonly update?: boolean;
  /** `attach` (default) writes bodies to files beside the HAR, `embed` into it. */
  readonly updateContent?: "attach" | "embed";
  /** `full` records times and sizes as well, `minimal` (default) does not. */
  readonly updateMode?: "minimal" | "full";
}

/** A request of the application (Playwright's `Request`). */
export interface Request {
  /** The client id of the application that sent the request. */
  readonly clientId: string;
  url(): string;
  method(): string;
  /** By lower-case name; repeats are joined, `set-cookie` by a line feed. */
  headers(): Record<string, string>;
  allHeaders(): Promise<Record<string, string>>;
  headersArray(): Promise<{ name: string; value: string }[]>;
  headerValue(name: string): Promise<string | null>;
  postData(): string | null;
  postDataBuffer(): Buffer | null;
  /** The body parsed as JSON; the fields of `application/x-www-form-urlencoded` as an object. */
  postDataJSON(): any;
  redirectedFrom(): Request | null;
  redirectedTo(): Request | null;
  /** Waits for the response; `null` when the request failed. */
  response(): Promise<Response | null>;
  /** The response if it has come, else `null`. */
  existingResponse(): Response | null;
  failure(): null;
  resourceType(): "other";
  frame(): never;
  serviceWorker(): null;
  isNavigationRequest(): boolean;
  timing(): {
    startTime: number;
    domainLookupStart: number;
    domainLookupEnd: number;
    connectStart: number;
    secureConnectionStart: number;
    connectEnd: number;
    requestStart: number;
    responseStart: number;
    responseEnd: number;
  };
  sizes(): Promise<{
    requestBodySize: number;
    requestHeadersSize: number;
    responseBodySize: number;
    responseHeadersSize: number;
  }>;
}

/** A response to the application (Playwright's `Response` and `APIResponse`). */
export interface Response {
  ok(): boolean;
  url(): string;
  status(): number;
  statusText(): string;
  headers(): Record<string, string>;
  allHeaders(): Promise<Record<string, string>>;
  headersArray(): { name: string; value: string }[];
  /** The value, repeats joined. */
  headerValue(name: string): string | null;
  headerValues(name: string): string[];
  body(): Promise<Buffer>;
  text(): Promise<string>;
  json(): Promise<any>;
  /** The body, without waiting. */
  readonly bodyBuffer: Buffer;
  request(): Request;
  fromServiceWorker(): boolean;
  frame(): never;
  dispose(): Promise<void>;
}

/** A request that a handler decides (Playwright's `Route`). */
export interface Route {
  request(): Request;
  fulfill(options?: FulfillOptions): Promise<void>;
  continue(options?: ContinueOptions): Promise<void>;
  fallback(options?: ContinueOptions): Promise<void>;
  /** Sends the request upstream and returns the response; this is no decision, and may be repeated. */
  fetch(options?: FetchOptions): Promise<Response>;
  abort(errorCode?: AbortErrorCode): Promise<void>;
}

/** One end of a WebSocket: the application's, or the real server's (Playwright's `WebSocketRoute`). */
export interface WebSocketRoute {
  url(): string;
  protocols(): string[];
  send(message: string | Uint8Array): void;
  close(options?: { code?: number; reason?: string }): Promise<void>;
  /** Calls `handler` for each message from this end, which is not passed on; a second handler replaces the first. */
  onMessage(handler: (message: string | Buffer) => unknown): void;
  onClose(handler: (code: number | undefined, reason: string | undefined) => unknown): void;
  /** Connects to the real server and returns its end; messages without a handler pass between the two ends. */
  connectToServer(): WebSocketRoute;
}

/** A request that strict mode refused. */
export interface UnmatchedRequest {
  readonly method: string;
  /** Without user name and password. */
  readonly url: string;
  readonly clientId: string;
  readonly kind: "http" | "websocket";
  /** The number of such requests. */
  readonly count: number;
  /** Why it was refused. */
  readonly message: string;
}

/** The mocks of one test: its routes, and the requests of the attached applications. */
export interface TrafficMock {
  /** The context of this test, 32 hexadecimal characters; `undefined` if it has none. */
  readonly id: string | undefined;
  /** Headers with the context, for the test's own requests to the application; empty without a context. */
  readonly headers: Record<string, string>;
  /** A proxy for a browser context, which adds the test's context to requests for the application. */
  readonly proxy: { server: string; username?: string; password?: string } | undefined;
  /**
   * The cookie with the test's context, for a browser context: `context.addCookies([trafficmock.cookie()])`.
   * @param url of the application. Default: the base URL.
   */
  cookie(url?: string): {
    name: string;
    value: string;
    domain: string;
    path: string;
    httpOnly: boolean;
    secure: boolean;
    sameSite: "Lax";
  };
  /** Registers a handler for matching requests, before those registered earlier. */
  route(url: RouteMatcher, handler: RouteHandler, options?: RouteOptions): Promise<void>;
  /**
   * Answers matching requests with a fixed response, which the proxy keeps and sends, even while the test is stopped
   * at a breakpoint.
   */
  mock(url: RouteMatcher, options?: MockOptions): Promise<void>;
  /** Removes handlers of HTTP requests that were registered with this matcher; without arguments all. */
  unroute(url?: RouteMatcher, handler?: RouteHandler): Promise<void>;
  /** Removes all handlers of HTTP requests. */
  unrouteAll(options?: UnrouteAllOptions): Promise<void>;
  /** Answers requests with the responses of a HAR file or `.zip` archive, or records one. */
  routeFromHAR(file: string, options?: RouteFromHAROptions): Promise<void>;
  /** Registers a handler that acts as the server of WebSockets that are opened from now on. */
  routeWebSocket(url: UrlMatcher, handler: WebSocketRouteHandler): Promise<void>;
  waitForRequest(
    url: string | RegExp | URLPatternLike | RouteFilter | ((request: Request) => boolean | Promise<boolean>),
    options?: WaitOptions,
  ): Promise<Request>;
  waitForResponse(
    url: string | RegExp | URLPatternLike | RouteFilter | ((response: Response) => boolean | Promise<boolean>),
    options?: WaitOptions,
  ): Promise<Response>;
  /** The requests since the test began, oldest first, without those that carry the context of another test. */
  requests(url?: RouteMatcher): Promise<readonly Request[]>;
  /**
   * Refuses requests of this test that no route matches, from now on: the application's call fails, and the test fails
   * at its end. `false` ends strict mode. `allow` has hosts (`*.example.com`, `auth:9000`) and, with a slash, URL globs.
   */
  strict(options?: { readonly allow?: readonly string[] } | false): Promise<void>;
  /**
   * Returns the requests that strict mode refused in this run and that no test owns, each URL once.
   *
   * The promise is rejected with a `UsageError` if the proxy has no strict mode.
   */
  unmatched(): Promise<readonly UnmatchedRequest[]>;
  /** Returns and forgets the errors so far, so that they do not fail the test at its end. */
  takeErrors(): Error[];
}

/** `use: { trafficmock: { … } }` in the configuration, `test.use({ trafficmockOptions: { … } })` in a file. */
export interface TrafficMockOptions {
  /**
   * Whether the test has a context. `auto` (default): if the proxy supports contexts. `required`: if it does not, or
   * if a route of the test gets a request without the context, the test
   * fails. `off`: no context, requests are assigned by URL alone.
   */
  readonly isolation?: "auto" | "off" | "required";
  /**
   * Globs of the application's origins, such as `http://*.shop.test:8000`: requests to them, and to the base URL, carry the
   * test's context. Default: every port of loopback, and names without a dot.
   */
  readonly origins?: readonly string[];
  /**
   * Whether requests of the test that no route matches are refused. Default: whether the run is strict
   * (`trafficmockStrict`).
   */
  readonly strict?: boolean;
  /** The hosts, and with a slash the URL globs, that strict mode lets through. */
  readonly allow?: readonly string[];
  /** When the requests of the applications are attached to the report. Default: `on-failure`. */
  readonly traffic?: "on-failure" | "on" | "off";
}
