import TrafficMockReporter from "./reporter.js";

export type ReporterOptions = TrafficMockReporter.ReporterOptions;
export default TrafficMockReporter;
