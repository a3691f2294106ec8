/** Written from `docs/openapi.yaml` by tools/rest_types.py: do not edit; no page loads it. */

export interface Error {
  /** For programs. */
  error:
    | "bad_request"
    | "ca_unavailable"
    | "forward_proxy_unavailable"
    | "headers_too_large"
    | "history_not_open"
    | "host_not_allowed"
    | "internal"
    | "invalid_parameter"
    | "method_not_allowed"
    | "not_found"
    | "origin_not_allowed"
    | "too_many_connections"
    | "upgrade_required";
  /** For people; what to do about it. */
  message: string;
}

export interface Health {
  ok: true;
  /** The version of trafficmock. */
  version: string;
  /** The version of the coordinator's protocol. */
  protocolVersion: 3;
  historyCapture: "all" | "handled" | "none";
}

export interface Summary {
  requests: Totals;
  webSockets: Totals;
  /** The counts of each test, oldest first: of what carried its context, else of what it owned. */
  tests: TestCounts[];
  /**
   * How many of the oldest tests are not listed any more, because 20,000 counts of a host and a decision
   * are kept; the other counts have them.
   */
  testsDropped: number;
  /** The counts of what no test had. */
  unowned: TrafficCounts;
}

export interface TestCounts {
  testId: string;
  title: string;
  path: string;
  requests: Counts;
  webSockets: Counts;
}

export interface TrafficCounts {
  requests: Counts;
  webSockets: Counts;
}

export interface Counts {
  /** How many were decided, by the action; of WebSockets by the outcome. */
  decisions: Record<string, number>;
  /**
   * For each host, with its port if the URL has one, how many were decided, by the action. Beyond 1000
   * hosts, others count as `(other hosts)`.
   */
  hosts: Record<string, Record<string, number>>;
}

export interface Totals {
  /** How many there were since the start of the service; each hop of a redirect counts. */
  total: number;
  /** How many were decided, by the action; of WebSockets by the outcome. */
  decisions: Record<string, number>;
  /** How many entries the history has. */
  recorded: number;
  /** How many entries it has dropped to stay within its limits. */
  dropped: number;
  /**
   * For each host, with its port if the URL has one, how many were decided, by the action. Beyond 1000
   * hosts, others count as `(other hosts)`.
   */
  hosts: Record<string, Record<string, number>>;
}

export interface Connections {
  nodeAgents: Agent[];
  runnerWorkers: Worker[];
  /** The same list as `runnerWorkers`, under its other name. */
  playwrightWorkers: Worker[];
  /** The service is strict (`--strict`). */
  strict?: Strict;
  /**
   * Strict runs whose worker was lost, as long as requests that no test owns are refused for their sake,
   * one for each list of patterns; absent for none, and while another strict run is connected.
   */
  lostRuns?: LostRun[];
  /** Requests that agents let pass without asking (`--local`). */
  local?: {
    on: boolean;
    /** A route that may match any URL, or strict mode, has all requests asked about. */
    asksAll: boolean;
    /** Requests of the connected agents that passed without a question. */
    passed: number;
    /** Requests of the connected agents that they asked about. */
    asked: number;
  };
}

/** Requests that no route wants are refused. */
export interface Strict {
  /** Hosts and URL globs that are allowed all the same. */
  allow: string[];
}

/** A strict run whose worker was lost. */
export interface LostRun {
  /** Hosts and URL globs that are allowed all the same. */
  allow: string[];
  /** Epoch milliseconds at which it is forgotten. */
  until: number;
}

export interface Agent {
  clientId: string;
  connectionId: string;
  /**
   * Epoch milliseconds at which the client connected; of a forward proxy client, since when it has had
   * connections.
   */
  connectedAt?: number;
  /** The client's process id, where the client says so. */
  pid?: number;
  /** The beginning of the command line of that process, where the client says so. */
  command?: string;
  /**
   * `node` for an agent in a Node process, `python` for a Python process with the preload, `proxy` for
   * another client of the forward proxy.
   */
  kind?: string;
  /** Present for agents that may let requests pass without asking. */
  local?: {
    /** Requests of the connected agents that passed without a question. */
    passed: number;
    /** Requests of the connected agents that they asked about. */
    asked: number;
  };
  /** Libraries that the agent could not change, whose jobs may have another test's context. */
  unhooked?: {
    library: string;
    /** The file that it is a part of, for example a bundle. */
    file: string;
  }[];
}

export interface Worker {
  clientId: string;
  connectionId: string;
  /**
   * Epoch milliseconds at which the client connected; of a forward proxy client, since when it has had
   * connections.
   */
  connectedAt?: number;
  /** The client's process id, where the client says so. */
  pid?: number;
  /** The beginning of the command line of that process, where the client says so. */
  command?: string;
  /** The worker's index as text, when it gave one. */
  workerId?: string;
  testCount: number;
  /** Routes of both kinds. */
  routeCount: number;
  /** Tests that are strict by themselves; absent for none. */
  strictTestCount?: number;
  /** While it is connected, requests that no test owns are refused. */
  strict?: Strict;
  /** With `fields=tests`. */
  tests?: RegisteredTest[];
}

export interface RegisteredTest {
  testId: string;
  title: string;
  file: string;
  /** The test is strict by itself. */
  strict?: Strict;
  routes: RegisteredRoute[];
}

export interface RegisteredRoute {
  routeId: string;
  kind: "http" | "websocket";
  matcher: Matcher;
  /** File and line at which the test registers it, if its test side sends them. */
  place?: string;
}

export interface HttpRequest {
  url: string;
  method: string;
  /** Name to value; names are in lower case, as agents report them. */
  headers: Record<string, string>;
  /** The header lines in order, when the agent or the test reported them. */
  headersList?: [string, string][];
  /**
   * Base64; null when there is none. Where `truncated` stands beside it, its beginning, or null. Null as
   * well where `bodyPending` does.
   */
  bodyBase64: string | null;
  /** There was more than what the bounds of the history allow to keep. */
  truncated?: true;
  /** Beside `truncated`, the bytes of the whole body, if they are known. */
  bodySize?: number;
  /** The body is still arriving. */
  bodyPending?: true;
}

export interface HttpResponse {
  status: number;
  statusText: string;
  /** Name to value; names are in lower case, as agents report them. */
  headers: Record<string, string>;
  /** The header lines in order, when the agent or the test reported them. */
  headersList?: [string, string][];
  /**
   * Base64; null when there is none. Where `truncated` stands beside it, its beginning, or null. Null as
   * well where `bodyPending` does.
   */
  bodyBase64: string | null;
  /** There was more than what the bounds of the history allow to keep. */
  truncated?: true;
  /** Beside `truncated`, the bytes of the whole body, if they are known. */
  bodySize?: number;
  /** The body is still arriving. */
  bodyPending?: true;
  url?: string;
  /** The trailer fields behind the body (RFC 9110, section 6.5), in order. */
  trailers?: [string, string][];
}

/** What `continue` changed; an absent field kept the original. */
export interface Overrides {
  url?: string;
  method?: string;
  /** Name to value; names are in lower case, as agents report them. */
  headers?: Record<string, string>;
  /** The header lines in order, when the agent or the test reported them. */
  headersList?: [string, string][];
  /**
   * Base64; null when there is none. Where `truncated` stands beside it, its beginning, or null. Null as
   * well where `bodyPending` does.
   */
  bodyBase64?: string | null;
  /** There was more than what the bounds of the history allow to keep. */
  truncated?: true;
  /** Beside `truncated`, the bytes of the whole body, if they are known. */
  bodySize?: number;
}

/** What a route matches; all keys that are there must hold. */
export interface Matcher {
  urlGlob?: string;
  urlRegex?: {
    source: string;
    flags: string;
  };
  methods?: string[];
  clientIds?: string[];
  predicate?: boolean;
  /** Conditions on more than the URL. */
  conditions?: Condition[];
}

/**
 * A condition on the values at one place of a request. With no key but `part` and `path` there must be
 * a value.
 */
export interface Condition {
  part: "query" | "header" | "form" | "json" | "operation" | "variables";
  /** The names and indexes that lead to the value. */
  path?: (string | number)[];
  equals?: string | number | boolean | null;
  /** A regular expression that is searched in a text. */
  matches?: {
    source: string;
    flags: string;
  };
  /** The number of items, or of the values of a name. */
  length?: number;
  isObject?: boolean;
  isAbsent?: boolean;
  /** Whether the test has a function of the value. */
  hasFunction?: boolean;
}

/** The route that `routeId` names, as it was at the match. */
export interface ShownRoute {
  matcher: Matcher;
  /** File and line at which the test registers it, if its test side sends them. */
  place?: string;
}

/** A route that matches, when more than one test claims the same request. */
export interface Claimant {
  routeId: string;
  testId: string;
  title: string;
  file: string;
  workerId: string;
  matcher: Matcher;
}

export interface Outcome {
  kind: "pending" | "mocked" | "passthrough" | "continued" | "aborted" | "error";
  /** The mock, or what came from upstream once it was reported. */
  response?: HttpResponse;
  routeId?: string;
  testId?: string;
  /** Why it was aborted. */
  errorCode?: string;
  /** What went wrong. */
  message?: string;
  /** `ambiguous_route`, `claim_timeout`, `disconnected` or another error code. */
  code?: string;
  /** The claimants of an ambiguous request. */
  matches?: Claimant[];
}

export interface HttpEvent {
  id: string;
  /** Epoch milliseconds. */
  timestamp: number;
  kind:
    | "observed"
    | "fulfill"
    | "continue"
    | "abort"
    | "passthrough"
    | "error"
    | "response"
    | "upstream_error"
    | "piece"
    | "end"
    | "broken_off"
    | "fault_unreached"
    | "trailers_dropped";
  detail?: string;
  /** The bytes of a `piece`. */
  size?: number;
}

export interface HttpEntry {
  id: string;
  /** Epoch milliseconds. */
  timestamp: number;
  clientId: string;
  request: HttpRequest;
  outcome: Outcome;
  action: "fulfill" | "continue" | "abort" | "passthrough" | "error" | "pending";
  /** The title of the test that owns it, or whose context it carries. */
  title?: string;
  /** The file of that test. */
  path?: string;
  /**
   * From settled on; measured again when the upstream response is reported, on the forward proxy with
   * its body decoded.
   */
  durationMs?: number;
  testId?: string;
  routeId?: string;
  route?: ShownRoute;
  overrides?: Overrides;
  /** Oldest first. */
  events: HttpEvent[];
  redirectedFromId?: string;
  redirectedToId?: string;
  /** It carries the context of the test `testId`. */
  hasContext?: true;
  /**
   * It carries the context of a test that had ended. If the only running test got it, `testId`, `title`
   * and `path` are that one's, and `lateOf` names the ended one; else they are those of the ended test,
   * and nobody got it.
   */
  late?: true;
  /** The title of the ended test whose context it carries, if a running test got it. */
  lateOf?: string;
  /**
   * Routes of other tests that match a request which passed through, where its context kept it from
   * them. The first five.
   */
  alsoMatched?: string[];
  /**
   * The number of other tests that ran when the test got a request by its URL alone, because it carries
   * no context: it may be theirs.
   */
  otherTests?: number;
  lost?: LostContext;
  mixed?: MixedContext;
  /** A route that tests share decided it, of a worker or of the run. */
  shared?: true;
}

/**
 * Where the request lost the context of its test: it carries none, came while tests with contexts ran,
 * and no shared route answered it.
 */
export interface LostContext {
  /** Where it was lost, as far as its agent tells that. */
  how: string;
  /** What to do about it. */
  remedy: string;
}

/**
 * The request carries the context of a test that has no route for it, and exactly one other running
 * test has one: it may be that one's.
 */
export interface MixedContext {
  /** Which tests these are, and where it was sent from, if its agent tells that. */
  how: string;
  /** What to do about it. */
  remedy: string;
}

/** An entry without bodies, headers and events. */
export interface HttpSummary {
  id: string;
  /** Epoch milliseconds. */
  timestamp: number;
  clientId: string;
  request: {
    url: string;
    method: string;
  };
  outcome: {
    kind: "pending" | "mocked" | "passthrough" | "continued" | "aborted" | "error";
    response?: {
      status: number;
      statusText: string;
      url?: string;
      /** The value of `content-type`, at most 200 characters of it. */
      contentType?: string;
      /** Bytes of the decoded body; absent while it arrives, or when nobody knows. */
      bodySize?: number;
      /** The body is still arriving. */
      bodyPending?: true;
    };
    routeId?: string;
    testId?: string;
    errorCode?: string;
    message?: string;
    code?: string;
    matches?: Claimant[];
  };
  action: "fulfill" | "continue" | "abort" | "passthrough" | "error" | "pending";
  title?: string;
  path?: string;
  durationMs?: number;
  testId?: string;
  routeId?: string;
  route?: ShownRoute;
  overrides?: {
    url?: string;
    method?: string;
  };
  redirectedFromId?: string;
  redirectedToId?: string;
  /** It carries the context of the test `testId`. */
  hasContext?: true;
  /**
   * It carries the context of a test that had ended. If the only running test got it, `testId`, `title`
   * and `path` are that one's, and `lateOf` names the ended one; else they are those of the ended test,
   * and nobody got it.
   */
  late?: true;
  /** The title of the ended test whose context it carries, if a running test got it. */
  lateOf?: string;
  /**
   * Routes of other tests that match a request which passed through, where its context kept it from
   * them. The first five.
   */
  alsoMatched?: string[];
  /**
   * The number of other tests that ran when the test got a request by its URL alone, because it carries
   * no context: it may be theirs.
   */
  otherTests?: number;
  lost?: LostContext;
  mixed?: MixedContext;
  /** A route that tests share decided it, of a worker or of the run. */
  shared?: true;
  /** What the last event says, when upstream failed after passthrough or continue. */
  upstreamError?: string;
  /** What the handler of a test raised, when that is why the request was aborted. */
  handlerError?: string;
  /**
   * Why the answer broke off, by a fault of the test or otherwise. The application did not get it whole.
   */
  broken?: string;
}

export interface WebSocketEvent {
  id: string;
  /** Epoch milliseconds. */
  timestamp: number;
  direction: "client" | "server" | "system";
  kind: "open" | "frame" | "close" | "error" | "handler";
  detail?: string;
  /** The frame; base64 when `isBase64` is true. */
  data?: string;
  isBase64?: boolean;
  /** There was more than what the bounds of the history allow to keep. */
  truncated?: true;
}

/** A connection without its events. */
export interface WebSocketSummary {
  id: string;
  /** Epoch milliseconds. */
  timestamp: number;
  clientId: string;
  url: string;
  protocols: string[];
  outcome: "pending" | "matched" | "passthrough" | "error";
  title?: string;
  path?: string;
  testId?: string;
  routeId?: string;
  route?: ShownRoute;
  errorCode?: string;
  errorMessage?: string;
  matches?: Claimant[];
  /** Epoch milliseconds. */
  closedAt?: number;
  close?: {
    code?: number;
    reason?: string;
    wasClean: boolean;
  };
  /** It carries the context of the test `testId`. */
  hasContext?: true;
  /**
   * It carries the context of a test that had ended. If the only running test got it, `testId`, `title`
   * and `path` are that one's, and `lateOf` names the ended one; else they are those of the ended test,
   * and nobody got it.
   */
  late?: true;
  /** The title of the ended test whose context it carries, if a running test got it. */
  lateOf?: string;
  /**
   * Routes of other tests that match a request which passed through, where its context kept it from
   * them. The first five.
   */
  alsoMatched?: string[];
  /**
   * The number of other tests that ran when the test got a request by its URL alone, because it carries
   * no context: it may be theirs.
   */
  otherTests?: number;
}

export interface WebSocketEntry {
  id: string;
  /** Epoch milliseconds. */
  timestamp: number;
  clientId: string;
  url: string;
  protocols: string[];
  outcome: "pending" | "matched" | "passthrough" | "error";
  title?: string;
  path?: string;
  testId?: string;
  routeId?: string;
  route?: ShownRoute;
  errorCode?: string;
  errorMessage?: string;
  matches?: Claimant[];
  /** Epoch milliseconds. */
  closedAt?: number;
  close?: {
    code?: number;
    reason?: string;
    wasClean: boolean;
  };
  /** It carries the context of the test `testId`. */
  hasContext?: true;
  /**
   * It carries the context of a test that had ended. If the only running test got it, `testId`, `title`
   * and `path` are that one's, and `lateOf` names the ended one; else they are those of the ended test,
   * and nobody got it.
   */
  late?: true;
  /** The title of the ended test whose context it carries, if a running test got it. */
  lateOf?: string;
  /**
   * Routes of other tests that match a request which passed through, where its context kept it from
   * them. The first five.
   */
  alsoMatched?: string[];
  /**
   * The number of other tests that ran when the test got a request by its URL alone, because it carries
   * no context: it may be theirs.
   */
  otherTests?: number;
  /** Newest first, 500 at most. */
  events: WebSocketEvent[];
}

/** HAR 1.2, of which only the outline is described here. */
export interface Har {
  log: {
    version: "1.2";
    creator: {
      name: "trafficmock";
      version: string;
    };
    entries: {
      startedDateTime: string;
      time: number;
    }[];
  };
}
