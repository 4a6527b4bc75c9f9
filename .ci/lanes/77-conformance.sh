# The conformance corpus on every host. The whole play native, wazero's compiler, Node 20 and a page of Chromium, and
# Node with the core module as far as it goes. A quarter each, another one from commit to commit, play native and wazero
# with several instances, wazero with one for each turn, its interpreter, its compiler with metering and with an agent
# that adds nothing to the core, Node 24, Node with metering and with the build of GOOS=js, a worker of Chromium, and,
# with the packed package, Deno, Bun, workerd, Firefox and WebKitGTK; CORPUS_SHARD=2/4 says which, and TURNCORE_LONG
# makes it the whole. Each writes the same log, byte for byte. What native and wazero do is recorded, and a third of it,
# or with TURNCORE_LONG the whole, replayed by each other and by Node, once where several recorded the same. Journals of
# invocations on the other engines are replayed at once.
source .ci/lib.sh
need_js
need_chromium
need_node 24
need_hosts
logs=$PWD/build/conformance
rm -rf "$logs"
mkdir -p "$logs/journals"

export CORPUS_SHARD=${CORPUS_SHARD:-} # without one those that play a part play all
if [[ -z $CORPUS_SHARD && -z ${TURNCORE_LONG:-} ]]; then CORPUS_SHARD=$(shard_of 4); fi
part=${CORPUS_SHARD:-1/1}
echo "part $part of the corpus on more hosts; again: CORPUS_SHARD=$part make test LANES=conformance"

played_in_go() {
  TURNCORE_CONFORMANCE_TO="$logs" TURNCORE_RECORD_TO="$logs/journals" \
    go test -vet=off -count=1 -v -run='^TestCorpus$' ./host/conformance >"$logs/go.txt" || { grep -vE '^ *(---|===) (PASS|RUN)' "$logs/go.txt"; exit 1; }
}
played_in_js() {
  node js/test/conformance/node.mjs "$logs/node.log" "Node $(node --version)"
  "$node24" js/test/conformance/node.mjs "$logs/node24.log" "Node $("$node24" --version)" full "$part"
  node js/test/conformance/node.mjs "$logs/node-go.log" "Node $(node --version), GOOS=js" go "$part"
  node js/test/conformance/node.mjs "$logs/node-metered.log" "Node $(node --version), metered" metered "$part"
  node js/test/conformance/node.mjs "$logs/core.log" "Node $(node --version), core module" core
  node js/test/conformance/chromium.mjs "$logs/page.log" "$logs/worker.log" "$part"
}
beside played_in_go
# The corpus has listeners that throw, of which Node tells on stderr: it is shown if something fails.
played_in_js >"$logs/js.txt" 2>"$logs/js.err" &
wait $! || { cat "$logs/js.txt" "$logs/js.err"; exit 1; }
together
hosts_passed 8 < <(grep -E 'conformance_test.go:[0-9]+: .* passed$' "$logs/go.txt" | sed 's/.*conformance_test.go:[0-9]*: //')
hosts_passed 7 <"$logs/js.txt"

partly=("$logs"/{node24,node-go,node-metered,worker}.log) # Go compares the logs of its hosts that play a part itself
node js/test/conformance/sections.mjs "$logs/native.log" "$part" "${partly[@]}" ||
  fail 'these differ from native.log'
whole=("$logs"/{wazero,node,page}.log)
for log in "${whole[@]}"; do cmp "$logs/native.log" "$log" || fail "$(basename "$log") differs from native.log"; done
cmp -n "$(stat -c %s "$logs/core.log")" "$logs/native.log" "$logs/core.log" || fail 'core.log differs from native.log'

on_more_hosts() {
  pack build/conformance/package
  node js/test/conformance/hosts.mjs build/conformance/package/turncore-*.tgz "$logs/native.log" "$part" \
    Deno Bun workerd Firefox WebKitGTK >"$logs/hosts.txt" 2>"$logs/hosts.err" || { cat "$logs/hosts.txt" "$logs/hosts.err"; exit 1; }
  hosts_passed 5 <"$logs/hosts.txt"
}
beside on_more_hosts

node .ci/recordings/distinct.mjs "$logs/journals"
count=$(keep_shard "$(shard_of 3)" "$logs/journals")
beside node --expose-gc .ci/recordings/folder.mjs "$logs/journals"
export TURNCORE_REPLAY_FROM="$logs/journals"
beside go_test -count=1 -run='^TestReplayFolder$' ./host/journal
together
tests_ran "$count"
