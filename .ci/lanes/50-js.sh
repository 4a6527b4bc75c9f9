# Unit tests of the npm package. What the tests of turns do is recorded for the lane suites. QUICK
# Of the corpus, whose whole lane conformance plays in Node, a quarter: CORPUS_SHARD. The inner loop leaves out what
# starts processes or compiles modules, which takes half of the time: the command, agents, hostile modules. If nothing
# has changed that a module or the package is made of, it runs none of these tests again.
source .ci/lib.sh
if [[ -n ${QUICK:-} ]] && unchanged js-quick js abi runtime internal wasm 'host/*testdata/*' examples docs go.mod go.sum; then
  echo 'ok    the tests in Node: as before, nothing has changed'
  tests_ran 1
  exit
fi
tested=${stamp:-} # building has stamps of its own
need_js_tests
mapfile -t turns < <(find js/build/test/turn -name '*.test.js' | sort)
mapfile -t others < <(find js/build/test -name '*.test.js' -not -path '*/test/turn/*' | sort)
if [[ -n ${QUICK:-} ]]; then
  mapfile -t others < <(printf '%s\n' "${others[@]}" | grep -vE '/test/(agents|cli)/')
  node_test_together "${turns[@]}"
  CORPUS_SHARD=${CORPUS_SHARD:-$(shard_of 4)} node_test "${others[@]}" js/test/contract/*.test.mjs
  stamp=$tested keep_stamp js-quick
  exit
fi
if [[ -n ${JOURNALS:-} ]]; then
  mkdir -p "$JOURNALS/node"
  export TURNCORE_RECORD_TO="$JOURNALS/node"
fi
node_test_together "${turns[@]}"
unset TURNCORE_RECORD_TO
CORPUS_SHARD=${CORPUS_SHARD:-$(shard_of 4)} node_test "${others[@]}" js/test/contract/*.test.mjs
# Modules that want to harm their host, in workers.
go run ./host/hostile/internal/write host/testdata/hostile build/hostile
need_js
node_test js/test/hostile/hostile.test.mjs
# The example agents, in this thread and in workers.
need_agents
node_test js/test/agents/*.test.mjs
