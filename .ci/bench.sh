#!/usr/bin/env bash
# Measures the modules' sizes, wazero and native, then Node, and prints one
# table; build/bench/all.json holds the same. QUICK=1 takes a minute and tells
# less.
source "$(dirname "$0")/lib.sh"
quick=${QUICK:+--quick}
need_js
mkdir -p build/bench
go run ./wasm/build
echo
go run ./host/bench $quick -json build/bench/go.json >build/bench/go.txt
node js/bench/bench.mjs $quick --json build/bench/node.json >build/bench/node.txt
go run ./host/bench/report -json build/bench/all.json build/bench/go.json build/bench/node.json
