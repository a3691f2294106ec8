#!/usr/bin/env bash
# Runs the tests without strict mode, and fails if a request has gone to the real network.
set -euo pipefail
export TRAFFICMOCK_PROXY_URL=http://127.0.0.1:4310

trafficmock serve --port 4310 --ready-file proxy.json > proxy.log 2>&1 &
trap 'kill $!' EXIT
timeout 60 sh -c 'until [ -e proxy.json ]; do sleep 0.1; done' || { cat proxy.log; exit 1; }

failed=0
timeout 5m pytest --trafficmock-report=report || failed=1
timeout 5m npx playwright test || failed=1
trafficmock status
trafficmock history --action passthrough --fail || failed=1
trafficmock ws --action passthrough --fail || failed=1
exit $failed
