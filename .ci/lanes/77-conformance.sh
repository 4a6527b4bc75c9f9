# The conformance corpus on every host: native, wazero's interpreter and compiler, the latter with metering, native and wazero
# with several instances and wazero with one for each turn, wazero with an agent that adds nothing to the core, Node
# 20 and 24, Node with the build of GOOS=js, and Chromium's pages and workers. Each writes the same log, byte for
# byte. So does Node with the core module, as far as it goes. What native and wazero do is recorded and replayed by each
# other and in Node, once where several recorded the same; journals of invocations on the other engines are replayed at
# once. Deno, Bun, workerd, Firefox and WebKitGTK play a quarter of the scenarios with the packed package, another one from
# commit to commit; CORPUS_PART=2/4 says which, and TURNCORE_LONG makes it the whole.
source .ci/lib.sh
need_js
need_chromium
need_node 24
need_hosts
logs=$PWD/build/conformance
rm -rf "$logs"
mkdir -p "$logs/journals"

played_in_go() {
  TURNCORE_CONFORMANCE_TO="$logs" TURNCORE_RECORD_TO="$logs/journals" \
    go test -count=1 -v -run='^TestCorpus$' ./host/conformance >"$logs/go.txt" || { grep -vE '^ *(---|===) (PASS|RUN)' "$logs/go.txt"; exit 1; }
}
played_in_js() {
  node js/test/conformance/node.mjs "$logs/node.log" "Node $(node --version)"
  "$node24" js/test/conformance/node.mjs "$logs/node24.log" "Node $("$node24" --version)"
  node js/test/conformance/node.mjs "$logs/node-go.log" "Node $(node --version), GOOS=js" go
  node js/test/conformance/node.mjs "$logs/node-metered.log" "Node $(node --version), metered" metered
  node js/test/conformance/node.mjs "$logs/core.log" "Node $(node --version), core module" core
  node js/test/conformance/chromium.mjs "$logs/page.log" "$logs/worker.log"
}
beside played_in_go
# The corpus has listeners that throw, of which Node tells on stderr: it is shown if something fails.
played_in_js >"$logs/js.txt" 2>"$logs/js.err" &
wait $! || { cat "$logs/js.txt" "$logs/js.err"; exit 1; }
together
hosts_passed 8 < <(grep -E 'conformance_test.go:[0-9]+: .* passed$' "$logs/go.txt" | sed 's/.*conformance_test.go:[0-9]*: //')
hosts_passed 7 <"$logs/js.txt"

for log in "$logs"/*.log; do
  part=()
  [[ $log == */core.log ]] && part=(-n "$(stat -c %s "$log")")
  cmp "${part[@]}" "$logs/native.log" "$log" || fail "$(basename "$log") differs from native.log"
done

part=${CORPUS_PART:-}
if [[ -z $part && -n ${TURNCORE_LONG:-} ]]; then part=1/1; fi
if [[ -z $part ]]; then
  commit=$(git rev-parse HEAD)
  part=$((16#${commit::8} % 4 + 1))/4
fi
echo "part $part of the corpus on more hosts; again: CORPUS_PART=$part make test LANES=conformance"
on_more_hosts() {
  pack build/conformance/package
  node js/test/conformance/hosts.mjs build/conformance/package/turncore-*.tgz "$logs/native.log" "$part" \
    Deno Bun workerd Firefox WebKitGTK >"$logs/hosts.txt" 2>"$logs/hosts.err" || { cat "$logs/hosts.txt" "$logs/hosts.err"; exit 1; }
  hosts_passed 5 <"$logs/hosts.txt"
}
beside on_more_hosts

count=$(find "$logs/journals" -name '*.journal' | wc -l)
((count > 0)) || fail 'nothing was recorded'
node .ci/recordings/distinct.mjs "$logs/journals"
beside node --expose-gc .ci/recordings/folder.mjs "$logs/journals"
export TURNCORE_REPLAY_FROM="$logs/journals"
beside go_test -count=1 -run='^TestReplayFolder$' ./host/journal
together
tests_ran "$count"
