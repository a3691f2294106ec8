"""Programs for those who work on trafficmock itself."""
