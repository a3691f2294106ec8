import type { Reporter } from "@playwright/test/reporter";

/** A reporter of Playwright that keeps the traffic of the applications: a page, `run.json`, and a HAR for each test. */
declare class TrafficMockReporter implements Reporter {
  constructor(options?: TrafficMockReporter.ReporterOptions);
}

declare namespace TrafficMockReporter {
  /** `reporter: [["list"], ["trafficmock-playwright/reporter", { outputFolder: "report" }]]` */
  interface ReporterOptions {
    /**
     * The directory of the report, from that of the configuration; the variable `TRAFFICMOCK_REPORT` has precedence.
     * @default "trafficmock-report"
     */
    readonly outputFolder?: string;
    /**
     * The tests with traffic in the report: those that failed, all, or no report. `TRAFFICMOCK_REPORT_MODE` has precedence.
     * @default "retain-on-failure"
     */
    readonly mode?: "retain-on-failure" | "on" | "off";
  }
}

export = TrafficMockReporter;
