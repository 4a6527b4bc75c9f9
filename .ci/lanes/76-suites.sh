# What the test suites of both hosts do is recorded and replayed on every engine, with collections forced: Go's on native
# and wazero is replayed in Node and by the other engine, Node's on native and wazero. The commands of both languages show each
# journal, and damaged ones, in the same bytes.
source .ci/lib.sh
need_js
recorded=$(mktemp -d)
trap 'rm -rf "$recorded"' EXIT
mkdir "$recorded/go" "$recorded/node"

TURNCORE_RECORD_TO="$recorded/go" go test -count=1 ./host/turns ./host/native ./internal/guest
if [[ -d ${JOURNALS:-}/node ]]; then # by the lane js
  rm -r "$recorded/node"
  mv "$JOURNALS/node" "$recorded/node"
else
  (cd js && npm run -s build:test)
  mapfile -t files < <(find js/build/test/turn -name '*.test.js' | sort)
  TURNCORE_RECORD_TO="$recorded/node" node --test --test-reporter=dot "${files[@]}"
fi

for suite in go node; do
  count=$(find "$recorded/$suite" -name '*.journal' | wc -l)
  ((count > 0)) || fail "the suite of $suite recorded nothing"
  TURNCORE_REPLAY_FROM="$recorded/$suite" go_test -count=1 -run='^TestReplayFolder$' ./host/journal
  node --expose-gc .ci/recordings/folder.mjs "$recorded/$suite"
  node .ci/recordings/inspect.mjs damage "$recorded/$suite"
  TURNCORE_INSPECT_FROM="$recorded/$suite" go test -count=1 -run='^TestInspectFolder$' ./host/cmd/turncore
  node .ci/recordings/inspect.mjs compare "$recorded/$suite"
  tests_ran $((2 * count))
done
