/** A URL: a glob as Playwright reads it, a RegExp, a predicate over the parsed URL, or a URLPattern. */
export type UrlMatcher = string | RegExp | ((url: URL) => boolean) | URLPatternLike;

/** Node's `URLPattern`, or a polyfill's. */
export interface URLPatternLike {
  test(url: string): boolean;
  readonly pathname: string;
  readonly hostname: string;
}

/** Filters that must all hold; one without `url` matches every URL. */
export interface RouteFilter {
  readonly url?: UrlMatcher;
  /** Any case. */
  readonly method?: string | readonly string[];
  /** The application, by the id that it is attached with. */
  readonly clientId?: string | readonly string[];
}

export type RouteMatcher = UrlMatcher | RouteFilter;

/** Decides a request, or leaves it to the next handler. */
export type RouteHandler = (route: Route, request: Request) => unknown;

export type WebSocketRouteHandler = (webSocket: WebSocketRoute) => unknown;

export interface RouteOptions {
  /** How many requests the handler takes; without it any number. */
  readonly times?: number;
}

export interface UnrouteAllOptions {
  /**
   * What becomes of handlers that run: `default` lets their requests go on, `wait` waits for them,
   * `ignoreErrors` swallows what they throw from now on.
   */
  readonly behavior?: "default" | "wait" | "ignoreErrors";
}

/** Changes of a request; what is absent stays as it is. */
export interface ContinueOptions {
  /** Of the same scheme as the request's. */
  readonly url?: string;
  readonly method?: string;
  /** The complete set; `undefined` leaves a header out. */
  readonly headers?: Record<string, string | undefined>;
  /** An object is sent as JSON. */
  readonly postData?: string | Uint8Array | object | null;
}

export interface FetchOptions extends ContinueOptions {
  /** Milliseconds; 0 for none. Default: 30,000. */
  readonly timeout?: number;
  readonly maxRedirects?: number;
  readonly maxRetries?: number;
  readonly signal?: AbortSignal;
}

export interface FulfillOptions {
  /** 200 to 599. Default: that of `response`, else 200. */
  readonly status?: number;
  /** The reason phrase. Default: that of the status. */
  readonly statusText?: string;
  /** The complete set; values are made strings. Default: those of `response`. */
  readonly headers?: Record<string, string | number | boolean | undefined>;
  readonly body?: string | Uint8Array;
  readonly json?: unknown;
  readonly contentType?: string;
  /** A file; its extension tells the content type. */
  readonly path?: string;
  /** What `route.fetch()` gave; the other options replace its parts. */
  readonly response?: Response;
}

/** A fixed response, as for `route.fulfill`; a file is read by the call. */
export interface MockOptions extends Omit<FulfillOptions, "response"> {
  /** How many requests it answers. Default: any number. */
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
  /** Milliseconds; 0 for none. Default: 30,000. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

export interface RouteFromHAROptions {
  /** Default: all. */
  readonly url?: UrlMatcher;
  /** What becomes of requests that are not in the HAR. Default: `abort`. */
  readonly notFound?: "abort" | "fallback";
  /** Ask upstream, and write the HAR at the end of the test. */
  readonly update?: boolean;
  /** Bodies into files beside the HAR (default), or into it. */
  readonly updateContent?: "attach" | "embed";
  /** Without times and sizes (default), or with them. */
  readonly updateMode?: "minimal" | "full";
}

/** A request of the application (Playwright's `Request`). */
export interface Request {
  /** The id that the application is attached with. */
  readonly clientId: string;
  url(): string;
  method(): string;
  /** Names in lower case; repeats joined. */
  headers(): Record<string, string>;
  allHeaders(): Promise<Record<string, string>>;
  headersArray(): Promise<{ name: string; value: string }[]>;
  headerValue(name: string): Promise<string | null>;
  postData(): string | null;
  postDataBuffer(): Buffer | null;
  /** Form data as an object, else JSON. */
  postDataJSON(): any;
  redirectedFrom(): Request | null;
  redirectedTo(): Request | null;
  /** `null` when the request failed. */
  response(): Promise<Response | null>;
  /** The response, if it is there. */
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
  /** Repeats joined. */
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

/** A request in the hands of a handler (Playwright's `Route`). */
export interface Route {
  request(): Request;
  fulfill(options?: FulfillOptions): Promise<void>;
  continue(options?: ContinueOptions): Promise<void>;
  fallback(options?: ContinueOptions): Promise<void>;
  /** Asks upstream; decides nothing, and may be called again. */
  fetch(options?: FetchOptions): Promise<Response>;
  abort(errorCode?: AbortErrorCode): Promise<void>;
}

/** One side of a WebSocket (Playwright's `WebSocketRoute`). */
export interface WebSocketRoute {
  url(): string;
  protocols(): string[];
  send(message: string | Uint8Array): void;
  close(options?: { code?: number; reason?: string }): Promise<void>;
  /** Frames of this side are not passed on any more; a second handler replaces the first. */
  onMessage(handler: (message: string | Buffer) => unknown): void;
  onClose(handler: (code: number | undefined, reason: string | undefined) => unknown): void;
  /** Opens the real server, and gives its side. */
  connectToServer(): WebSocketRoute;
}

/** A request that strict mode refused. */
export interface UnmatchedRequest {
  readonly method: string;
  /** Without user name and password. */
  readonly url: string;
  readonly clientId: string;
  readonly kind: "http" | "websocket";
  /** How often it came. */
  readonly count: number;
  /** Why it was refused. */
  readonly message: string;
}

/** One test's hand on the traffic of the applications that run attached. */
export interface TrafficMock {
  /** The context of this test, 32 hex characters; nothing where it has none. */
  readonly id: string | undefined;
  /** Headers for the test's own requests to the application. */
  readonly headers: Record<string, string>;
  /** A proxy for a browser context: it puts the test's context on requests for the application. */
  readonly proxy: { server: string; username?: string; password?: string } | undefined;
  /**
   * The cookie that puts the test's context on a browser context: `context.addCookies([trafficmock.cookie()])`.
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
  /** Let a handler decide requests; the newest that matches comes first. */
  route(url: RouteMatcher, handler: RouteHandler, options?: RouteOptions): Promise<void>;
  /** Answer requests by a fixed response. The proxy gives it, also while this test stands at a breakpoint. */
  mock(url: RouteMatcher, options?: MockOptions): Promise<void>;
  unroute(url?: RouteMatcher, handler?: RouteHandler): Promise<void>;
  unrouteAll(options?: UnrouteAllOptions): Promise<void>;
  routeFromHAR(file: string, options?: RouteFromHAROptions): Promise<void>;
  /** Let a handler answer WebSockets that are opened from now on. */
  routeWebSocket(url: UrlMatcher, handler: WebSocketRouteHandler): Promise<void>;
  waitForRequest(
    url: string | RegExp | URLPatternLike | ((request: Request) => boolean | Promise<boolean>),
    options?: WaitOptions,
  ): Promise<Request>;
  waitForResponse(
    url: string | RegExp | URLPatternLike | ((response: Response) => boolean | Promise<boolean>),
    options?: WaitOptions,
  ): Promise<Response>;
  /** All requests since the test began that are not another test's, oldest first. */
  requests(url?: RouteMatcher): Promise<readonly Request[]>;
  /**
   * Refuse what no route of this test wants from now on: the application's call fails, and so does the test at its end.
   * `false` ends it. `allow` are hosts (`*.example.com`, `auth:9000`), and globs of URLs where there is a slash.
   */
  strict(options?: { readonly allow?: readonly string[] } | false): Promise<void>;
  /**
   * The requests that strict mode refused in this run and that no test owns, each URL once.
   *
   * Rejects when the proxy knows no strict mode.
   */
  unmatched(): Promise<readonly UnmatchedRequest[]>;
  /** What went wrong so far; what is left when the test ends fails it. */
  takeErrors(): Error[];
}

/** `use: { trafficmock: { … } }` in the configuration, `test.use({ trafficmockOptions: { … } })` in a file. */
export interface TrafficMockOptions {
  /** `auto`: where the proxy knows contexts. `required`: fail where it does not. `off`: by URL alone. Default: `auto`. */
  readonly isolation?: "auto" | "off" | "required";
  /** Globs of the application's origins beside that of the base URL, such as `http://*.shop.test:8000`. */
  readonly origins?: readonly string[];
  /** Whether what no route of the test wants is refused. Default: whether the run is (`trafficmockStrict`). */
  readonly strict?: boolean;
  /** What may leave a strict test all the same: hosts, and globs of URLs where there is a slash. */
  readonly allow?: readonly string[];
  /** When the server's traffic goes into the report. Default: `on-failure`. */
  readonly traffic?: "on-failure" | "on" | "off";
}
