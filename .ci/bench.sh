#!/usr/bin/env bash
# Measures the modules, wazero, native and Node, and first turns in Chromium and workerd too, and prints one table,
# which goes to build/bench.md too and as JSON to build/bench.json.
#
#   PEERS=1   other libraries too, from npm and the Go proxy, as ratios
#   QUICK=1   seconds instead of minutes, to see that everything runs; goes to
#             build/bench-quick
#   HOSTS=1   the first turn on every host of docs/hosts.md instead, and the bytes that it takes; goes to
#             build/bench-hosts.md
#   BASE=REF  that commit against this checkout instead: both are built and measured in turns, PAIRS times (20), and
#             what is worse by more than 3 percent and by more than the noise fails; ENGINES=native,Node measures those
#             two alone; goes to build/bench-base.md
source "$(dirname "$0")/lib.sh"
need_js

# compare_with REF: builds REF beside this checkout and measures both.
compare_with() {
  local head=$PWD base=$PWD/build/base commit
  commit=$(git rev-parse --verify "$1^{commit}")
  git worktree remove --force "$base" 2>/dev/null || rm -rf "$base"
  git worktree prune
  git worktree add --quiet --detach "$base" "$commit"
  trap 'git worktree remove --force "$PWD/build/base"' EXIT
  echo "building $(git log -1 --format='%h %s' "$commit")" >&2
  (
    cd "$base"
    source .ci/lib.sh
    need_js >&2
    local bench=./host/internal/bench
    [[ -d $bench ]] || bench=./host/bench
    # How long a measurement takes, and in which process, is this checkout's matter, on both sides.
    cp "$head/host/internal/bench/meter.go" "$bench/meter.go"
    sed -i "s#turncore/host/internal/bench/#turncore/${bench#./}/#" "$bench/meter.go"
    cp "$head"/js/bench/{meter,memory}.mjs js/bench
    go build -o build/bench-go "$bench"
  )
  go build -o build/bench-go ./host/internal/bench
  TURNCORE_BENCH_PACE=pair go run ./host/internal/bench/pair -pairs "${PAIRS:-20}" \
    -engine "${ENGINES:-wazero,native,Node}" "$base" . | tee build/bench-base.md
}

if [[ -n ${BASE:-} ]]; then
  compare_with "$BASE"
  exit
fi

if [[ ${HOSTS:-} == 1 ]]; then
  nodes_and_hosts
  pack build/hosts/work
  "$node24" js/test/hosts/first-turn.mjs build/hosts/work/turncore-*.tgz | tee build/bench-hosts.md
  exit
fi

need_chromium
options=() out=build/bench pairs=15
if [[ ${QUICK:-} == 1 ]]; then options=(quick) out=build/bench-quick pairs=1; fi
rm -rf "$out"
mkdir -p "$out/peers" "$out/plain"

go build -o "$out/bench-go" ./host/internal/bench
go run ./wasm/build -plain -sizes=0 -o "$out/plain"
node js/bench/starts.mjs --plain "$out/plain/turncore.wasm" --go "$out/bench-go" --pairs $pairs \
  --json "$out/starts.json"
"$out/bench-go" "${options[@]/#/-}" -json "$out/go.json"
node js/bench/bench.mjs "${options[@]/#/--}" --json "$out/node.json"

# npm_peer NAME PROGRAM ARGUMENT...: installs what js/bench/peers/NAME.json
# names and runs a program of that folder beside it.
npm_peer() {
  local name=$1 folder=build/peers/$1
  shift
  echo "$name" >&2
  mkdir -p "$folder"
  echo 'module peers' >build/peers/go.mod # keeps ./... of this module out of what npm installs
  cp js/bench/peers/*.mjs "$folder"
  cp "js/bench/peers/$name.json" "$folder/package.json"
  (cd "$folder" && npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error >&2)
  (cd "$folder" && node "$@") >"$out/peers/$name.json"
}

extism_peer() {
  echo extism >&2
  local plugin=$PWD/$out/extism.wasm
  (
    cd host/internal/bench/peers/extism
    GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags='-s -w' -o "$plugin" ./guest
    go run . -guest "$plugin"
  ) >"$out/peers/extism.json"
}

adk_go_peer() {
  echo adk-go >&2
  local guest=$PWD/$out/adk-go.wasm
  (
    cd host/internal/bench/peers/adk-go
    GOOS=wasip1 GOARCH=wasm go build -ldflags='-s -w' -o "$guest" ./guest
    go run . -guest "$guest"
  ) >"$out/peers/adk-go.json"
}

if [[ ${PEERS:-} == 1 ]]; then
  extism_peer
  adk_go_peer
  npm_peer adk-ts adk.mjs @iqai/adk
  npm_peer adk-js adk.mjs @google/adk
  npm_peer ai ai.mjs
fi

go run ./host/internal/bench/report -json "$out.json" -peers "$out/peers" \
  "$out/go.json" "$out/node.json" "$out/starts.json" | tee "$out.md"

# Wasmtime against wazero.
need_c_compiler
{
  printf '\n| engine | what | time | of wazero |\n| --- | --- | --- | --- |\n'
  CGO_ENABLED=1 go -C host/wasmtime run ./internal/bench "${options[@]}"
} | tee -a "$out.md"

# What a turn of a long conversation costs with the stores of databases.
need_postgres
need_node 24
{
  printf '\n| store | what | time | of the first |\n| --- | --- | --- | --- |\n'
  go -C host/store/sqlite run ./internal/bench "${options[@]}"
  go -C host/store/postgres run ./internal/bench "${options[@]}"
  # shellcheck disable=SC2154 # need_node sets it
  "$node24" --no-warnings js/bench/stores.mjs "${options[@]}"
} | tee -a "$out.md"
