import type {
  PlaywrightTestArgs,
  PlaywrightTestOptions,
  PlaywrightWorkerArgs,
  PlaywrightWorkerOptions,
  TestType,
} from "@playwright/test";
import type { Allowed, TrafficMock, TrafficMockOptions } from "./types.js";

export { expect } from "@playwright/test";
export * from "./types.js";

/**
 * The options of this package in `use` of a configuration. Name it, since Playwright knows only its own options otherwise,
 * and TypeScript refuses `use: { trafficmock: … }`:
 *
 *     export default defineConfig<TrafficMockUse>({ use: { trafficmock: { traffic: "on" } } });
 */
export interface TrafficMockUse extends TrafficMockWorkerOptions {
  /** The settings of each test; for a file or a `describe` there is `test.use({ trafficmockOptions: { … } })`. */
  trafficmock: TrafficMockOptions;
}

/** The fixtures of a test. */
export interface TrafficMockFixtures {
  /** The mocks of the test. */
  trafficmock: TrafficMock;
  /** The same, by the name of the npm package `@playwright-backend-mocks/playwright`. */
  backendMocks: TrafficMock;
  /** The settings of a file or a `describe`: `test.use({ trafficmockOptions: { … } })`. */
  trafficmockOptions: TrafficMockOptions;
}

/** The options of `use` that hold for all tests of a worker. */
export interface TrafficMockWorkerOptions {
  /**
   * Makes the run strict: requests that no route matches are refused, also those without a test. `allow` has
   * what is let through.
   */
  trafficmockStrict: { readonly allow?: readonly Allowed[] } | undefined;
  /**
   * The URL of the proxy. Default: what `proxyServer({ proxyUrl })` or `attached({ proxyUrl })` of the configuration says,
   * else `TRAFFICMOCK_PROXY_URL`, else `http://127.0.0.1:4310`.
   */
  trafficmockProxyUrl: string | undefined;
  /** The proxy's `--token`. Default: `TRAFFICMOCK_TOKEN`. */
  trafficmockToken: string | undefined;
  /** The same as `trafficmockProxyUrl`, by the name of the npm package. */
  backendMocksProxyUrl: string | undefined;
  /** The same as `trafficmockToken`, by the name of the npm package. */
  backendMocksToken: string | undefined;
}

/** The fixtures of a worker. */
export interface TrafficMockWorkerFixtures extends TrafficMockWorkerOptions {
  /** Mocks whose routes serve all tests of the worker, after a test's own routes. */
  trafficmockShared: TrafficMock;
  /**
   * Mocks whose routes serve all tests of the run, after all others. Each worker registers them, and they are one route:
   * the first registration counts, and another answer of another worker is refused.
   */
  trafficmockRun: TrafficMock;
}

/** Playwright's `test`, with the fixtures and options of this package. */
export const test: TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & TrafficMockFixtures,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & TrafficMockWorkerFixtures
>;

// The names of the npm package `@playwright-backend-mocks/playwright`.

/** @see TrafficMockFixtures */
export type BackendMocksFixtures = Pick<TrafficMockFixtures, "backendMocks">;
/** @see TrafficMockWorkerOptions */
export type BackendMocksWorkerOptions = Pick<TrafficMockWorkerOptions, "backendMocksProxyUrl" | "backendMocksToken">;
