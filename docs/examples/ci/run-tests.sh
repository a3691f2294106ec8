#!/usr/bin/env bash
# Runs the tests against two applications, and fails if a request went to the real network.
# What was recorded is in the directory traffic/ if the job fails.
set -euo pipefail
export TRAFFICMOCK_PROXY_URL="${TRAFFICMOCK_PROXY_URL:-http://127.0.0.1:4310}"
export STOCK_PORT="${STOCK_PORT:-5000}" SHOP_PORT="${SHOP_PORT:-3000}"
mkdir -p traffic
started=()

end() {
  status=$?
  if [ "$status" -ne 0 ]; then
    trafficmock history --all --full --json > traffic/history.json || true
    trafficmock har --failed --output traffic/traffic.har || true
    tail -n 50 traffic/*.log
  fi
  kill "${started[@]}" 2> /dev/null || true
  wait
  exit "$status"
}
trap end EXIT

answers() { # waits 60 s at most, and no longer than the process that was started last
  for _ in {1..60}; do
    curl --silent --fail --noproxy '*' --output /dev/null --max-time 5 "$1" && return
    kill -0 "${started[-1]}" 2> /dev/null || break
    sleep 1
  done
  echo "$1 does not answer" >&2
  return 1
}

trafficmock serve --port "${TRAFFICMOCK_PROXY_URL##*:}" > traffic/proxy.log 2>&1 &
started+=("$!")
answers "$TRAFFICMOCK_PROXY_URL/health"

trafficmock run --client-id stock -- python stock.py > traffic/stock.log 2>&1 &
started+=("$!")
trafficmock run --client-id shop -- node shop.mjs > traffic/shop.log 2>&1 &
started+=("$!")
answers "http://127.0.0.1:$STOCK_PORT/"
answers "http://127.0.0.1:$SHOP_PORT/"

pytest --trafficmock-required --trafficmock-report=traffic/report "$@"

trafficmock status
trafficmock history --action passthrough --fail
trafficmock ws --action passthrough --fail
