#!/usr/bin/env bash
# Measures the modules' sizes, then wazero and native, then Node. Tables go to
# the terminal, the same as JSON to build/bench.
source "$(dirname "$0")/lib.sh"
need_js
(cd js && npm run -s build:test)
mkdir -p build/bench
go run ./wasm/build -sizes=5
echo
go run ./host/bench -json build/bench/go.json
echo
node js/build/bench/main.js --json build/bench/node.json
