/** The types of the REST API's records (`docs/openapi.yaml`) for the pages' scripts; no page loads this file. */

export interface Health {
  ok: true;
  version: string;
  protocolVersion: 3;
  historyCapture: "all" | "handled" | "none";
}

export interface Connections {
  nodeAgents: Agent[];
  runnerWorkers: Worker[];
  playwrightWorkers: Worker[];
  strict?: Strict;
  lostRuns?: LostRun[];
  local?: {
    on: boolean;
    asksAll: boolean;
    passed: number;
    asked: number;
  };
}

export interface Strict {
  allow: string[];
}

/** A strict run whose worker is gone; it stays strict until `until`, in epoch milliseconds. */
export interface LostRun extends Strict {
  until: number;
}

/** The fields that agents and workers share. */
interface Connection {
  clientId: string;
  connectionId: string;
  connectedAt?: number;
  pid?: number;
  command?: string;
}

export interface Agent extends Connection {
  kind?: string;
  local?: {
    passed: number;
    asked: number;
  };
}

export interface Worker extends Connection {
  workerId?: string;
  testCount: number;
  routeCount: number;
  strictTestCount?: number;
  strict?: Strict;
  tests?: RegisteredTest[];
}

export interface RegisteredTest {
  testId: string;
  title: string;
  file: string;
  strict?: Strict;
  routes: RegisteredRoute[];
}

export interface RegisteredRoute {
  routeId: string;
  kind: "http" | "websocket";
  matcher: Matcher;
  place?: string;
}

/** Headers and body of a request or a response. */
interface Message {
  headers: Record<string, string>;
  headersList?: [string, string][];
  bodyBase64: string | null;
  truncated?: true;
  bodySize?: number;
  bodyPending?: true;
}

export interface HttpRequest extends Message {
  url: string;
  method: string;
}

export interface HttpResponse extends Message {
  status: number;
  statusText: string;
  url?: string;
}

export interface Overrides {
  url?: string;
  method?: string;
  headers?: Record<string, string>;
  headersList?: [string, string][];
  bodyBase64?: string | null;
  truncated?: true;
  bodySize?: number;
}

export interface Matcher {
  urlGlob?: string;
  urlRegex?: {
    source: string;
    flags: string;
  };
  methods?: string[];
  clientIds?: string[];
  predicate?: boolean;
}

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
  response?: HttpResponse;
  routeId?: string;
  testId?: string;
  errorCode?: string;
  message?: string;
  code?: string;
  matches?: Claimant[];
}

export interface HttpEvent {
  id: string;
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
    | "broken_off";
  detail?: string;
}

export interface ShownRoute {
  matcher: Matcher;
  place?: string;
}

/** The fields that requests and WebSockets share. */
interface Row {
  id: string;
  timestamp: number;
  clientId: string;
  title?: string;
  path?: string;
  testId?: string;
  routeId?: string;
  route?: ShownRoute;
  hasContext?: true;
  late?: true;
  alsoMatched?: string[];
  otherTests?: number;
}

/** The fields that an entry and its summary share. */
interface HttpRow extends Row {
  action: "fulfill" | "continue" | "abort" | "passthrough" | "error" | "pending";
  durationMs?: number;
  redirectedFromId?: string;
  redirectedToId?: string;
}

export interface HttpEntry extends HttpRow {
  request: HttpRequest;
  outcome: Outcome;
  overrides?: Overrides;
  events: HttpEvent[];
}

export interface HttpSummary extends HttpRow {
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
      contentType?: string;
      bodySize?: number;
      bodyPending?: true;
    };
    routeId?: string;
    testId?: string;
    errorCode?: string;
    message?: string;
    code?: string;
    matches?: Claimant[];
  };
  overrides?: {
    url?: string;
    method?: string;
  };
  upstreamError?: string;
  handlerError?: string;
}

export interface WebSocketEvent {
  id: string;
  timestamp: number;
  direction: "client" | "server" | "system";
  kind: "open" | "frame" | "close" | "error" | "handler";
  detail?: string;
  data?: string;
  isBase64?: boolean;
  truncated?: true;
}

export interface WebSocketSummary extends Row {
  url: string;
  protocols: string[];
  outcome: "pending" | "matched" | "passthrough" | "error";
  errorCode?: string;
  errorMessage?: string;
  matches?: Claimant[];
  closedAt?: number;
  close?: {
    code?: number;
    reason?: string;
    wasClean: boolean;
  };
}

export interface WebSocketEntry extends WebSocketSummary {
  events: WebSocketEvent[];
}
