/** A condition on the URL: a glob as in Playwright, a RegExp, a predicate over the parsed URL, or a URLPattern. */
export type UrlMatcher = string | RegExp | ((url: URL) => boolean) | URLPatternLike;

/** A `URLPattern` of Node or of a polyfill. */
export interface URLPatternLike {
  /** Whether the URL matches. */
  test(url: string): boolean;
  /** The pattern of the path. */
  readonly pathname: string;
  /** The pattern of the host. */
  readonly hostname: string;
}

/** Conditions that must all hold; without `url`, every URL matches. */
export interface RouteFilter {
  /** A condition on the URL. */
  readonly url?: UrlMatcher;
  /** The method or methods, in any case. */
  readonly method?: string | readonly string[];
  /** The client id or ids of the applications. */
  readonly clientId?: string | readonly string[];
  /** Parameters of the query string: a value that must be among those of its name, a list of all of them, `null` for none. */
  readonly matchQuery?: MatchedNames;
  /** Headers, with names in any case. */
  readonly matchHeaders?: MatchedNames;
  /** Fields of an `application/x-www-form-urlencoded` body. */
  readonly matchForm?: MatchedNames;
  /** A part of the JSON body: of objects the members that are named, of arrays the length and each item. */
  readonly matchJson?: MatchedJson;
  /** The name of the GraphQL operation, or the name and a part of the variables. */
  readonly matchGraphql?:
    | string
    | RegExp
    | MatchedBy<string>
    | readonly [operation: string | RegExp | MatchedBy<string>, variables?: MatchedJson];
}

/**
 * What strict mode lets through: a host (`*.example.com`, `auth:9000`), with a slash a URL glob, or conditions, whose
 * `url` is no function.
 */
export type Allowed = string | RouteFilter;

/** A value to compare; a RegExp is searched in texts. */
export type MatchedText = string | number | boolean | RegExp;

/** A function of a value, which is called in the test's process after all else matches. */
export type MatchedBy<T> = (value: T) => boolean;

/** Values by name, or functions of them. */
export type MatchedNames = Readonly<
  Record<string, MatchedText | MatchedBy<string> | readonly (MatchedText | MatchedBy<string>)[] | null>
>;

/** A JSON value in which RegExps may stand for texts, and functions for values. */
export type MatchedJson =
  MatchedText | MatchedBy<any> | null | readonly MatchedJson[] | { readonly [member: string]: MatchedJson | undefined };

/** Which requests: a condition on the URL, or several conditions. */
export type RouteMatcher = UrlMatcher | RouteFilter;

/** Which WebSockets: a condition on the URL, or with the applications that open them. */
export type WebSocketMatcher = UrlMatcher | Pick<RouteFilter, "url" | "clientId">;

declare const decided: unique symbol;

/** What a decision returns: nothing, but TypeScript tells it apart from a function that only ends. */
export type Decided = void & { readonly [decided]: true };

/**
 * Decides a request by one of `fulfill`, `stream`, `continue` and `abort`, or passes it to the next handler by `fallback`. It
 * awaits the call; one that returns without a decision fails the request and the test. One that never returns lets it hang.
 *
 * So it returns a promise of nothing: a function that awaits nothing, or that returns a response or another value in the
 * place of a decision, is a type error. Of an `async` function, TypeScript does not see whether it has decided at its end; see
 * `DecidingHandler`.
 */
export type RouteHandler = (route: Route, request: Request) => Promise<void>;

/**
 * A handler that returns its decision: TypeScript refuses one that ends without it on any of its ways.
 *
 *     const pay: DecidingHandler = async (route, request) => {
 *       if (request.method() === "POST") return route.fulfill({ status: 402 });
 *       return route.fallback();
 *     };
 */
export type DecidingHandler = (route: Route, request: Request) => Promise<Decided>;

/** Acts as the server of a WebSocket; `webSocket` is the end of the application. */
export type WebSocketRouteHandler = (webSocket: WebSocketRoute) => unknown;

/** The options of `route`. */
export interface RouteOptions {
  /** How many requests the handler gets before it is removed. Default: no limit. */
  readonly times?: number;
  /** Whether the test fails if no request meets the route. Default: that of the test. */
  readonly required?: boolean;
}

/** The options of `unrouteAll`. */
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
  /** Another method. */
  readonly method?: string;
  /** All headers of the request; a header with `undefined` is left out. */
  readonly headers?: Record<string, string | undefined>;
  /** Another body; an object is sent as JSON. */
  readonly postData?: string | Uint8Array | object | null;
}

/** When a decision takes effect. */
export interface DelayOptions {
  // options begin: abort
  /** Milliseconds after which the proxy sends the decision. The call returns at once. A test that ends before fails. */
  readonly delay?: number;
  // options end
}

/** The options of `route.abort`. */
export type AbortOptions = DelayOptions;

/** The options of `route.fetch`. */
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

/** How an answer breaks: the connection ends, or stays open without another byte (`stall`). */
export type Fault = "connection_reset" | "empty_response" | "malformed_chunk" | "stall" | "truncated";

/** How the answer of the real server comes, for `route.continue`. */
export interface FaultOptions {
  // options begin: continue
  /** Milliseconds after which the proxy sends the decision. The call returns at once. A test that ends before fails. */
  readonly delay?: number;
  /** How the answer breaks: `connection_reset`, `empty_response`, `truncated`, `malformed_chunk` or `stall`. */
  readonly fault?: Fault;
  /** The bytes of the body before the fault. Default: half of it for `truncated`, none for the others. */
  readonly after?: number;
  /** The bytes of the body that the application gets in a second; not with `fault`. Default: all at once. */
  readonly rate?: number;
  // options end
}

/** The options of `route.fulfill`. */
export interface FulfillOptions {
  // options begin: fulfill
  /** 200 to 999. Default: that of `response`, else 200. */
  readonly status?: number;
  /**
   * The reason phrase, in latin-1 without control characters. Default: that of `response` if its status is used, else
   * the standard one.
   */
  readonly statusText?: string;
  /** All headers; values are converted to text. Default: those of `response`. */
  readonly headers?: Record<string, string | number | boolean | undefined>;
  /**
   * The body; text is sent as UTF-8. The parts of an iterable or async iterable are sent one by one; the call is done
   * when the last one has reached the application's process. Default: that of `response`, else none.
   */
  readonly body?: string | Uint8Array | Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
  /** A value that is sent as JSON, in the place of `body`. */
  readonly json?: unknown;
  /** A file whose content is the body; it is read by the call, and its extension gives the content type. */
  readonly path?: string;
  /** The value of `content-type`, in the place of any other. Default: by `json` or `path`. */
  readonly contentType?: string;
  /**
   * Header fields that follow the body (RFC 9110 section 6.5), which is sent in chunks then. Default: those of
   * `response`, with its body.
   */
  readonly trailers?: Record<string, string | number | boolean | undefined>;
  /** A response of `route.fetch()`; the other options replace its parts. */
  readonly response?: Response;
  /** Milliseconds after which the proxy sends the decision. The call returns at once. A test that ends before fails. */
  readonly delay?: number;
  /** How the answer breaks: `connection_reset`, `empty_response`, `truncated`, `malformed_chunk` or `stall`. */
  readonly fault?: Fault;
  /** The bytes of the body before the fault. Default: half of it for `truncated`, none for the others. */
  readonly after?: number;
  /** The bytes of the body that the application gets in a second; not with `fault`. Default: all at once. */
  readonly rate?: number;
  // options end
}

/** The head of a streamed answer. */
export interface StreamOptions {
  // options begin: stream
  /** 200 to 999. Default: 200. */
  readonly status?: number;
  /**
   * The reason phrase, in latin-1 without control characters. Default: the standard one, such as `Not Found` for 404.
   */
  readonly statusText?: string;
  /** All headers; values are converted to text. */
  readonly headers?: Record<string, string | number | boolean | undefined>;
  /** The value of `content-type`. */
  readonly contentType?: string;
  /** Header fields that follow the body (RFC 9110 section 6.5), which is sent in chunks then. */
  readonly trailers?: Record<string, string | number | boolean | undefined>;
  // options end
}

/** The options of `stream`. */
export interface StreamRouteOptions extends StreamOptions {
  /** Whether the test fails if no request meets the route. Default: that of the test. */
  readonly required?: boolean;
}

/** An event of a stream of server-sent events (HTML standard, section 9.2). */
export interface ServerSentEvent {
  /** Its text; each line becomes a field `data`. */
  readonly data?: string;
  /** Its type. */
  readonly event?: string;
  /** The id that a client repeats in `last-event-id`. */
  readonly id?: string;
  /** Milliseconds until a client connects again. */
  readonly retry?: number;
  /** A value that is sent as JSON, in the place of `data`. */
  readonly json?: unknown;
}

/**
 * An answer whose body a test writes.
 *
 * What a call was given has reached the application's process when the call is done. Calls wait while the application does
 * not read, at most 30 s, and then throw a `TimeoutError`. They throw a `StreamClosedError` if the application has closed
 * the answer, when `end` and `abort` do nothing, and a `UsageError` after `end` or `abort`. A test that ends with an open
 * stream fails, and the answer breaks off.
 */
export interface Stream {
  /** Waits for the request that is answered, at most 30 s. */
  request(): Promise<Request>;
  /** Sends a part of the body; text is sent as UTF-8. */
  send(data: string | Uint8Array): Promise<void>;
  /** Sends a server-sent event. */
  sse(event: ServerSentEvent): Promise<void>;
  /** Sends a value as one line of JSON (NDJSON). */
  jsonLine(value: unknown): Promise<void>;
  /** Ends the body. */
  end(): Promise<void>;
  /** Breaks the answer off, after the parts that were sent. Default: `connectionreset`. */
  abort(errorCode?: AbortErrorCode): Promise<void>;
}

/** A fixed response, and which requests get it. */
export interface MockOptions extends RouteOptions {
  // options begin: mock
  /** 200 to 999. Default: 200. */
  readonly status?: number;
  /**
   * The reason phrase, in latin-1 without control characters. Default: the standard one, such as `Not Found` for 404.
   */
  readonly statusText?: string;
  /** All headers; values are converted to text. */
  readonly headers?: Record<string, string | number | boolean | undefined>;
  /** The body; text is sent as UTF-8. Default: none. */
  readonly body?: string | Uint8Array;
  /** A value that is sent as JSON, in the place of `body`. */
  readonly json?: unknown;
  /** A file whose content is the body; it is read by the call, and its extension gives the content type. */
  readonly path?: string;
  /** The value of `content-type`, in the place of any other. Default: by `json` or `path`. */
  readonly contentType?: string;
  /** Header fields that follow the body (RFC 9110 section 6.5), which is sent in chunks then. */
  readonly trailers?: Record<string, string | number | boolean | undefined>;
  /** The body in pieces, which are sent one by one, in the place of `body`; not with `fault` or `rate`. */
  readonly chunks?: Iterable<string | Uint8Array>;
  /** Milliseconds from each request on, after which the proxy answers; with `chunks` the time between two of them. */
  readonly delay?: number;
  /** How the answer breaks: `connection_reset`, `empty_response`, `truncated`, `malformed_chunk` or `stall`. */
  readonly fault?: Fault;
  /** The bytes of the body before the fault. Default: half of it for `truncated`, none for the others. */
  readonly after?: number;
  /** The bytes of the body that the application gets in a second; not with `fault`. Default: all at once. */
  readonly rate?: number;
  /**
   * The answers to one request after the other, in the place of a single one: statuses, and these options by name, or
   * `abort` with an error code. The last one is repeated.
   */
  readonly sequence?: readonly SequenceAnswer[];
  // options end
}

/** One answer of a sequence: a status, a response, or a failure. */
export type SequenceAnswer =
  | number
  | {
      // options begin: step
      /** 200 to 999. Default: 200. */
      readonly status?: number;
      /**
       * The reason phrase, in latin-1 without control characters. Default: the standard one, such as `Not Found` for
       * 404.
       */
      readonly statusText?: string;
      /** All headers; values are converted to text. */
      readonly headers?: Record<string, string | number | boolean | undefined>;
      /** The body; text is sent as UTF-8. Default: none. */
      readonly body?: string | Uint8Array;
      /** A value that is sent as JSON, in the place of `body`. */
      readonly json?: unknown;
      /** A file whose content is the body; it is read by the call, and its extension gives the content type. */
      readonly path?: string;
      /** The value of `content-type`, in the place of any other. Default: by `json` or `path`. */
      readonly contentType?: string;
      /** Header fields that follow the body (RFC 9110 section 6.5), which is sent in chunks then. */
      readonly trailers?: Record<string, string | number | boolean | undefined>;
      /** The body in pieces, which are sent one by one, in the place of `body`; not with `fault` or `rate`. */
      readonly chunks?: Iterable<string | Uint8Array>;
      /** A failure in the place of a response, with no option but `delay`. */
      readonly abort?: AbortErrorCode;
      /**
       * Milliseconds from each request on, after which the proxy answers; with `chunks` the time between two of them.
       */
      readonly delay?: number;
      /** How the answer breaks: `connection_reset`, `empty_response`, `truncated`, `malformed_chunk` or `stall`. */
      readonly fault?: Fault;
      /** The bytes of the body before the fault. Default: half of it for `truncated`, none for the others. */
      readonly after?: number;
      /** The bytes of the body that the application gets in a second; not with `fault`. Default: all at once. */
      readonly rate?: number;
      // options end
    };

/** The network error that the application gets, by Playwright's names. */
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

/** The options of `waitForRequest` and `waitForResponse`. */
export interface WaitOptions {
  /** Milliseconds; 0 for no limit. Default: 30,000. */
  readonly timeout?: number;
  /** Aborts the wait. */
  readonly signal?: AbortSignal;
}

/** The options of `routeFromHAR`. */
export interface RouteFromHAROptions {
  /** The requests that the HAR answers. Default: all. */
  readonly url?: UrlMatcher;
  /** For requests that are not in the HAR: `abort` (default) fails them, `fallback` passes them to the next handler. */
  readonly notFound?: "abort" | "fallback";
  /**
   * When to fetch responses from upstream, and write them into the HAR at the end of a test that passed: `none`
   * (default) never; `once` if there is no HAR yet; `new` for requests that it does not have, which are added; `all`
   * for all requests, so that the HAR is written anew.
   */
  readonly mode?: "none" | "once" | "new" | "all";
  /** The same as `mode: "all"`. */
  readonly update?: boolean;
  /** `attach` (default) writes bodies to files beside the HAR, `embed` into it. */
  readonly updateContent?: "attach" | "embed";
  /** `full` records times and sizes as well, `minimal` (default) does not. */
  readonly updateMode?: "minimal" | "full";
  /** The factor for the pauses between the pieces in which a recorded answer came, 1 for the same ones. Default: no pauses. */
  readonly pace?: number;
  /**
   * The parts of a request that have to be equal: `method`, `url` or its parts `scheme`, `host`, `port`, `path` and
   * `query`; `body`, `json`, `form`, `headers`, `header:NAME`. Default: the method, the URL, and of a `POST` the body.
   */
  readonly matchOn?: string | readonly string[];
  /** Fields that need not be equal: `json:meta.id`, `query:nonce`, `form:at`, `header:x-request-id`. */
  readonly ignore?: string | readonly string[];
  /** Each entry answers one request, in their order. Default: any number of them; the first of those that are alike. */
  readonly inOrder?: boolean;
  /**
   * The answer to a request is what its redirects lead to, as in Playwright. Default: a redirect is an answer, and the
   * application follows it.
   */
  readonly followRedirects?: boolean;
  /** What is secret in a new HAR besides fields of known names: `json:user.email`, `header:x-customer`, …; or `off`. */
  readonly redact?: string | readonly string[];
}

/** A request of the application (Playwright's `Request`). */
export interface Request {
  /** The client id of the application that sent the request. */
  readonly clientId: string;
  /** The URL, with the changes of earlier handlers. */
  url(): string;
  /** The method, with the changes of earlier handlers. */
  method(): string;
  /** By lower-case name; repeats are joined, `set-cookie` by a line feed. */
  headers(): Record<string, string>;
  /** The same as `headers()`. */
  allHeaders(): Promise<Record<string, string>>;
  /** The lines of the header, repeats apart. */
  headersArray(): Promise<{ name: string; value: string }[]>;
  /** The value of a header by its name in any case, repeats joined. */
  headerValue(name: string): Promise<string | null>;
  /** The body as text; `null` without one. */
  postData(): string | null;
  /** The bytes of the body; `null` without one. */
  postDataBuffer(): Buffer | null;
  /**
   * The body parsed as JSON; the fields of `application/x-www-form-urlencoded` as an object. `T` is what the test knows of
   * it, and is not checked: `request.postDataJSON<Order>()`.
   */
  postDataJSON<T = any>(): T;
  /** The request that was answered with a redirect to this one. */
  redirectedFrom(): Request | null;
  /** The request that followed the redirect of this one. */
  redirectedTo(): Request | null;
  /** Waits for the response; `null` when the request failed. */
  response(): Promise<Response | null>;
  /** The response if it has come, else `null`. */
  existingResponse(): Response | null;
  /** Always `null`; a failed request has the response `null`. */
  failure(): null;
  /** Always `other`: a server made the request. */
  resourceType(): "other";
  /** Throws: a server has no frames. */
  frame(): never;
  /** Always `null`. */
  serviceWorker(): null;
  /** Always `false`. */
  isNavigationRequest(): boolean;
  /** Placeholders: the phases of a server's request are not measured. */
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
  /** The sizes of the bodies in bytes; -1 for the headers. */
  sizes(): Promise<{
    requestBodySize: number;
    requestHeadersSize: number;
    responseBodySize: number;
    responseHeadersSize: number;
  }>;
}

/** A response to the application (Playwright's `Response` and `APIResponse`). */
export interface Response {
  /** Whether the status is 200 to 299. */
  ok(): boolean;
  /** The URL of the request. */
  url(): string;
  /** The status, such as 200. */
  status(): number;
  /** The reason phrase. */
  statusText(): string;
  /** By lower-case name; repeats are joined, `set-cookie` by a line feed. */
  headers(): Record<string, string>;
  /** The same as `headers()`. */
  allHeaders(): Promise<Record<string, string>>;
  /** The lines of the header, repeats apart. */
  headersArray(): { name: string; value: string }[];
  /** The value, repeats joined. */
  headerValue(name: string): string | null;
  /** The values of each line of this name. */
  headerValues(name: string): string[];
  /** The bytes of the body. */
  body(): Promise<Buffer>;
  /** The body as UTF-8. */
  text(): Promise<string>;
  /** The body parsed as JSON. `T` is what the test knows of it, and is not checked: `response.json<Order>()`. */
  json<T = any>(): Promise<T>;
  /** The body, without waiting. */
  readonly bodyBuffer: Buffer;
  /** The request that it answers. */
  request(): Request;
  /** Always `false`. */
  fromServiceWorker(): boolean;
  /** Throws: a server has no frames. */
  frame(): never;
  /** Frees the body, which can then not be read. */
  dispose(): Promise<void>;
}

/** A request that a handler decides (Playwright's `Route`). */
export interface Route {
  /** The request, with the changes of earlier handlers. */
  request(): Request;
  /** Answers the request, which does not go upstream. */
  fulfill(options?: FulfillOptions): Promise<Decided>;
  /** Begins to answer the request; the test writes the body by the result, part by part. */
  stream(options?: StreamOptions): Promise<Stream>;
  /** Sends the request upstream, with these changes. */
  continue(options?: ContinueOptions & FaultOptions): Promise<Decided>;
  /** Passes the request, with these changes, to the next handler that matches; without one, upstream. */
  fallback(options?: ContinueOptions): Promise<Decided>;
  /** Sends the request upstream and returns the response; this is no decision, and may be repeated. */
  fetch(options?: FetchOptions): Promise<Response>;
  /** Fails the request with a network error. Default: `failed`. */
  abort(errorCode?: AbortErrorCode, options?: AbortOptions): Promise<Decided>;
}

/** One end of a WebSocket: the application's, or the real server's (Playwright's `WebSocketRoute`). */
export interface WebSocketRoute {
  /** The URL that the application opened. */
  url(): string;
  /** The subprotocols that the application offered. */
  protocols(): string[];
  /** Sends a message to this end. */
  send(message: string | Uint8Array): void;
  /** Closes this end. */
  close(options?: { code?: number; reason?: string }): Promise<void>;
  /** Calls `handler` for each message from this end, which is not passed on; a second handler replaces the first. */
  onMessage(handler: (message: string | Buffer) => unknown): void;
  /** Calls `handler` when this end closes, which is not passed on then; a second handler replaces the first. */
  onClose(handler: (code: number | undefined, reason: string | undefined) => unknown): void;
  /** Connects to the real server and returns its end; messages without a handler pass between the two ends. */
  connectToServer(): WebSocketRoute;
}

/** A request that strict mode refused. */
export interface UnmatchedRequest {
  /** The method, such as `GET`. */
  readonly method: string;
  /** Without user name and password. */
  readonly url: string;
  /** The client id of the application that sent it. */
  readonly clientId: string;
  /** Whether it is a request or opens a WebSocket. */
  readonly kind: "http" | "websocket";
  /** The number of such requests. */
  readonly count: number;
  /** Why it was refused. */
  readonly message: string;
  /** When the first of them was refused; epoch ms. */
  readonly at?: number;
  /** When the last of them was refused; epoch ms. */
  readonly lastAt?: number;
  /** The client and, where it is known, the process that sent the first of them. */
  readonly sender?: string;
}

/**
 * A route of a test. Its calls ask the proxy, so they count all requests that the applications have got answers to.
 */
export interface RouteHandle {
  /** The number of requests that met the route: its handler was called, or it answered. */
  callCount(): Promise<number>;
  /**
   * The requests that met the route, oldest first. Of a route that several tests share, these are the requests of tests
   * that have not ended.
   */
  requests(): Promise<readonly Request[]>;
  /** Removes the route; no later request reaches it. */
  unroute(): Promise<void>;
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
  route(url: RouteMatcher, handler: RouteHandler, options?: RouteOptions): Promise<RouteHandle>;
  /**
   * Answers matching requests with a fixed response, which the proxy keeps and sends, even while the test is stopped
   * at a breakpoint.
   */
  mock(url: RouteMatcher, options?: MockOptions): Promise<RouteHandle>;
  /** Answers the next matching request by a stream, whose body the test writes. Its first call waits for the request. */
  stream(url: RouteMatcher, options?: StreamRouteOptions): Promise<Stream>;
  /** Removes handlers of HTTP requests that were registered with this matcher; without arguments all. */
  unroute(url?: RouteMatcher, handler?: RouteHandler): Promise<void>;
  /** Removes all handlers of HTTP requests. */
  unrouteAll(options?: UnrouteAllOptions): Promise<void>;
  /** Answers requests with the responses of a HAR file or `.zip` archive, or records one. */
  routeFromHAR(file: string, options?: RouteFromHAROptions): Promise<void>;
  /**
   * Registers a handler that acts as the server of WebSockets that are opened from now on. `{ url, clientId }` takes
   * those of some applications.
   */
  routeWebSocket(url: WebSocketMatcher, handler: WebSocketRouteHandler): Promise<void>;
  /**
   * Waits for a request that comes after the call: begin the wait before the act, and await it after. A `TimeoutError` lists
   * what came instead.
   */
  waitForRequest(
    url: string | RegExp | URLPatternLike | RouteFilter | ((request: Request) => boolean | Promise<boolean>),
    options?: WaitOptions,
  ): Promise<Request>;
  /** Waits for the response to a request that comes after the call, in the same way. */
  waitForResponse(
    url: string | RegExp | URLPatternLike | RouteFilter | ((response: Response) => boolean | Promise<boolean>),
    options?: WaitOptions,
  ): Promise<Response>;
  /** The requests since the test began, oldest first, without those that carry the context of another test. */
  requests(url?: RouteMatcher): Promise<readonly Request[]>;
  /**
   * Refuses requests of this test that no route matches, from now on: the application's call fails, and the test fails
   * at its end. `false` ends strict mode. `allow` has what is let through.
   */
  strict(options?: { readonly allow?: readonly Allowed[] } | false): Promise<void>;
  /** Returns the requests that strict mode refused in this run and that no test owns, each URL once. */
  unmatched(): Promise<readonly UnmatchedRequest[]>;
  /**
   * Returns and forgets the errors so far, so that they do not fail the test at its end. It waits for nothing: await
   * `requests()` before it, and it has all that the proxy had sent by then.
   */
  takeErrors(): Error[];
}

/** `use: { trafficmock: { … } }` in the configuration, `test.use({ trafficmockOptions: { … } })` in a file. */
export interface TrafficMockOptions {
  /**
   * Whether the test has a context. `auto` (default): it has one. `required`: if a route of the test gets a request
   * without the context, the test fails. `off`: no context, requests are assigned by URL alone.
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
  /** Whether the test fails if no request meets one of its routes and mocks. Default: `false`. */
  readonly required?: boolean;
  /** What strict mode lets through. */
  readonly allow?: readonly Allowed[];
  /** When the requests of the applications are attached to the report. Default: `on-failure`. */
  readonly traffic?: "on-failure" | "on" | "off";
}

// The names of the npm package `@playwright-backend-mocks/playwright`.

/** @see Request */
export type BackendRequest = Request;
/** @see Response */
export type BackendResponse = Response;
/** @see Route */
export type BackendRoute = Route;
/** @see WebSocketRoute */
export type BackendWebSocketRoute = WebSocketRoute;
/** @see TrafficMock */
export type BackendMocks = TrafficMock;
/** @see AbortErrorCode */
export type RouteAbortErrorCode = AbortErrorCode;
/** @see UrlMatcher */
export type RouteUrl = UrlMatcher;
/** A predicate over the parsed URL. */
export type RouteUrlPredicate = (url: URL) => boolean;
/** @see RouteFilter */
export type RouteMatcherObject = RouteFilter;
/** @see RouteMatcher */
export type RouteMatcherInput = RouteMatcher;
/** @see WaitOptions */
export type WaitForNetworkOptions = WaitOptions;
/** A predicate over a request. */
export type WaitForRequestPredicate = (request: Request) => boolean | Promise<boolean>;
/** A predicate over a response. */
export type WaitForResponsePredicate = (response: Response) => boolean | Promise<boolean>;
/** What `waitForRequest` takes. */
export type WaitForRequestMatcher = Parameters<TrafficMock["waitForRequest"]>[0];
/** What `waitForResponse` takes. */
export type WaitForResponseMatcher = Parameters<TrafficMock["waitForResponse"]>[0];
/** The lines of a header, repeats apart. */
export type HeaderArray = { name: string; value: string }[];
/** What `request.sizes()` returns. */
export type RequestSizes = Awaited<ReturnType<Request["sizes"]>>;
/** What `request.timing()` returns. */
export type ResourceTiming = ReturnType<Request["timing"]>;
