# Unit tests of the npm package. What the tests of turns do is recorded for the lane suites. QUICK
# Of the corpus, whose whole lane conformance plays in Node, a quarter: CORPUS_SHARD.
source .ci/lib.sh
need_js_tests
mapfile -t turns < <(find js/build/test/turn -name '*.test.js' | sort)
mapfile -t others < <(find js/build/test -name '*.test.js' -not -path '*/test/turn/*' | sort)
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
