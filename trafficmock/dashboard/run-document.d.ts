/** The types of the document of a run (`docs/run.schema.json`) for the pages' scripts; no page loads this file. */

import type { HttpEntry, Matcher, WebSocketEntry } from "./rest-records.js";

export interface RunDocument {
  format: 1;
  version: string;
  processes: RunProcess[];
  counts: Record<string, number>;
  totals: {
    requests: Totals;
    webSockets: Totals;
  };
  tests: ReportedTest[];
  unowned: Traffic & { omitted: number };
  refused: RefusedRequest[];
  refusedDropped: number;
  hars?: UsedHar[];
  /** The name of a HAR, of which the page was made instead of a run. */
  har?: string;
}

/** A process that ran tests, in epoch milliseconds. */
export interface RunProcess {
  runner: string;
  worker: string;
  pid: number;
  startedAt: number;
  ended: boolean;
  endedAt?: number;
  problem?: string;
}

export interface Totals {
  total: number;
  decisions: Record<string, number>;
  hosts: Record<string, Record<string, number>>;
}

export interface Traffic {
  requests: HttpEntry[];
  webSockets: WebSocketEntry[];
}

export interface ReportedTest extends Traffic {
  id: string;
  title: string;
  file: string;
  line?: number;
  outcome: string;
  retry?: number;
  runner?: string;
  worker?: string;
  startedAt: number;
  durationMs: number;
  error?: string;
  /** What else its runner shows of the failure. */
  sections?: { title: string; text: string }[];
  routes: ReportedRoute[];
  omitted: number;
  har?: string;
  missing?: string;
}

export interface ReportedRoute {
  routeId: string;
  kind: "http" | "websocket";
  matcher: Matcher;
  place?: string;
  handler?: string;
  requests: number;
}

/** A HAR that tests have replayed or recorded, with the numbers of the entries that they have used, from 1. */
export interface UsedHar {
  file: string;
  entries: number;
  used: number[];
}

export interface RefusedRequest {
  kind: string;
  method?: string;
  url: string;
  clientId: string;
  count: number;
  message?: string;
}
