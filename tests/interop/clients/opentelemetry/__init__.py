"""Applications under OpenTelemetry's zero-code instrumentation, behind the forward proxy."""
