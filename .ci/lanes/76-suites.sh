# What the test suites of both hosts do is recorded and replayed on every engine, with collections forced, once where
# two engines recorded the same: Go's on native and wazero is replayed in Node and by the other engine, Node's on native
# and wazero. The commands of both languages show the journals, and damaged ones, in the same bytes. It is a third of
# the journals, another one from commit to commit; TURNCORE_LONG makes it the whole.
source .ci/lib.sh
need_js
recorded=$(mktemp -d)
trap 'rm -rf "$recorded"' EXIT
mkdir "$recorded/go" "$recorded/node"

# taken SUITE: the lane of the suite has recorded it before.
taken() {
  [[ -d ${JOURNALS:-}/$1 ]] || return
  rm -r "${recorded:?}/$1"
  mv "$JOURNALS/$1" "$recorded/$1"
}
if ! taken go; then
  TURNCORE_RECORD_TO="$recorded/go" go test -vet=off -count=1 ./host/turns ./host/native ./internal/guest
fi
if ! taken node; then
  need_js_tests
  mapfile -t files < <(find js/build/test/turn -name '*.test.js' | sort)
  TURNCORE_RECORD_TO="$recorded/node" node --test --test-reporter=dot "${files[@]}"
fi

# played SUITE: its journals, on every engine and through both commands.
played() {
  local suite=$1 count
  node .ci/recordings/distinct.mjs "$recorded/$suite"
  count=$(keep_shard "$(shard_of 3)" "$recorded/$suite")
  TURNCORE_REPLAY_FROM="$recorded/$suite" go_test -count=1 -run='^TestReplayFolder$' ./host/journal
  node --expose-gc .ci/recordings/folder.mjs "$recorded/$suite"
  if [[ $suite == go ]]; then node .ci/recordings/inspect.mjs damage "$recorded/$suite"; fi
  TURNCORE_INSPECT_FROM="$recorded/$suite" go -C host/cmd/turncore test -vet=off -count=1 -run='^TestInspectFolder$' .
  node .ci/recordings/inspect.mjs compare "$recorded/$suite"
  tests_ran $((2 * count)) # replayed and shown
}
beside played go
beside played node
together
