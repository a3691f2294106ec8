/** The records of the REST API (`docs/openapi.yaml`), as the types of the pages' scripts; no page loads this file. */

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

export interface Agent {
  clientId: string;
  connectionId: string;
  connectedAt?: number;
  pid?: number;
  command?: string;
  kind?: string;
  local?: {
    passed: number;
    asked: number;
  };
}

export interface Worker {
  clientId: string;
  connectionId: string;
  connectedAt?: number;
  pid?: number;
  command?: string;
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

export interface HttpRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  headersList?: [string, string][];
  bodyBase64: string | null;
  truncated?: true;
  bodySize?: number;
  bodyPending?: true;
}

export interface HttpResponse {
  status: number;
  statusText: string;
  headers: Record<string, string>;
  headersList?: [string, string][];
  bodyBase64: string | null;
  truncated?: true;
  bodySize?: number;
  bodyPending?: true;
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
  kind: "observed" | "fulfill" | "continue" | "abort" | "passthrough" | "error" | "response" | "upstream_error";
  detail?: string;
}

export interface HttpEntry {
  id: string;
  timestamp: number;
  clientId: string;
  request: HttpRequest;
  outcome: Outcome;
  action: "fulfill" | "continue" | "abort" | "passthrough" | "error" | "pending";
  title?: string;
  path?: string;
  durationMs?: number;
  testId?: string;
  routeId?: string;
  overrides?: Overrides;
  events: HttpEvent[];
  redirectedFromId?: string;
  redirectedToId?: string;
  hasContext?: true;
  late?: true;
  alsoMatched?: string[];
}

export interface HttpSummary {
  id: string;
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
      contentType?: string;
      bodySize?: number;
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
  overrides?: {
    url?: string;
    method?: string;
  };
  redirectedFromId?: string;
  redirectedToId?: string;
  hasContext?: true;
  late?: true;
  alsoMatched?: string[];
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

export interface WebSocketSummary {
  id: string;
  timestamp: number;
  clientId: string;
  url: string;
  protocols: string[];
  outcome: "pending" | "matched" | "passthrough" | "error";
  title?: string;
  path?: string;
  testId?: string;
  routeId?: string;
  errorCode?: string;
  errorMessage?: string;
  matches?: Claimant[];
  closedAt?: number;
  close?: {
    code?: number;
    reason?: string;
    wasClean: boolean;
  };
  hasContext?: true;
  late?: true;
  alsoMatched?: string[];
}

export interface WebSocketEntry {
  id: string;
  timestamp: number;
  clientId: string;
  url: string;
  protocols: string[];
  outcome: "pending" | "matched" | "passthrough" | "error";
  title?: string;
  path?: string;
  testId?: string;
  routeId?: string;
  errorCode?: string;
  errorMessage?: string;
  matches?: Claimant[];
  closedAt?: number;
  close?: {
    code?: number;
    reason?: string;
    wasClean: boolean;
  };
  hasContext?: true;
  late?: true;
  alsoMatched?: string[];
  events: WebSocketEvent[];
}
