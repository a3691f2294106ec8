import type {
  PlaywrightTestArgs,
  PlaywrightTestOptions,
  PlaywrightWorkerArgs,
  PlaywrightWorkerOptions,
  TestType,
} from "@playwright/test";
import type { TrafficMock, TrafficMockOptions } from "./types.js";

export { expect } from "@playwright/test";
export * from "./types.js";

/** What `use` has of this package in a configuration: `defineConfig<TrafficMockUse>({ … })`. */
export interface TrafficMockUse extends TrafficMockWorkerOptions {
  trafficmock: TrafficMockOptions;
}

export interface TrafficMockFixtures {
  trafficmock: TrafficMock;
  /** The same, by the name of the npm package `@playwright-backend-mocks/playwright`. */
  backendMocks: TrafficMock;
  trafficmockOptions: TrafficMockOptions;
}

export interface TrafficMockWorkerOptions {
  /** Makes the run strict: its tests, and what no test owns. What may leave all the same is in `allow`. */
  trafficmockStrict: { readonly allow?: readonly string[] } | undefined;
  /** Base URL of the proxy. Default: `TRAFFICMOCK_PROXY_URL`, else `http://127.0.0.1:4310`. */
  backendMocksProxyUrl: string;
  /** The proxy's `--token`. Default: `TRAFFICMOCK_TOKEN`. */
  backendMocksToken: string | undefined;
}

export interface TrafficMockWorkerFixtures extends TrafficMockWorkerOptions {
  /** Routes that serve all tests of the worker, after their own. */
  trafficmockShared: TrafficMock;
}

export const test: TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & TrafficMockFixtures,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & TrafficMockWorkerFixtures
>;
