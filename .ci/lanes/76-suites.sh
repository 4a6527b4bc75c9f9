# What the test suites of both hosts do is recorded and replayed on every engine, with collections forced, once where
# two engines recorded the same: Go's on native and wazero is replayed in Node and by the other engine, Node's on native
# and wazero. The commands of both languages show a third of the journals, another one from commit to commit, and
# damaged ones, in the same bytes; TURNCORE_LONG makes it the whole.
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
  TURNCORE_RECORD_TO="$recorded/go" go test -count=1 ./host/turns ./host/native ./internal/guest
fi
if ! taken node; then
  need_js_tests
  mapfile -t files < <(find js/build/test/turn -name '*.test.js' | sort)
  TURNCORE_RECORD_TO="$recorded/node" node --test --test-reporter=dot "${files[@]}"
fi

commit=$(git rev-parse HEAD)
# played SUITE: its journals, on every engine and through both commands.
played() {
  local suite=$1 count shown
  count=$(find "$recorded/$suite" -name '*.journal' | wc -l)
  ((count > 0)) || fail "the suite of $suite recorded nothing"
  node .ci/recordings/distinct.mjs "$recorded/$suite"
  TURNCORE_REPLAY_FROM="$recorded/$suite" go_test -count=1 -run='^TestReplayFolder$' ./host/journal
  node --expose-gc .ci/recordings/folder.mjs "$recorded/$suite"
  if [[ -z ${TURNCORE_LONG:-} ]]; then
    find "$recorded/$suite" -name '*.journal' | sort | awk -v part=$((16#${commit::8} % 3)) 'NR % 3 != part' | xargs -d '\n' rm
  fi
  shown=$(find "$recorded/$suite" -name '*.journal' | wc -l)
  if [[ $suite == go ]]; then node .ci/recordings/inspect.mjs damage "$recorded/$suite"; fi
  TURNCORE_INSPECT_FROM="$recorded/$suite" go -C host/cmd/turncore test -count=1 -run='^TestInspectFolder$' .
  node .ci/recordings/inspect.mjs compare "$recorded/$suite"
  tests_ran $((count + shown))
}
beside played go
beside played node
together
