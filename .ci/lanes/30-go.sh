# Go tests of everything but the build, with the module present. QUICK
# What the tests of turns do is recorded for the lane suites. Left to other lanes, which run the same: the corpus on
# every engine to lane conformance; the suites of stores and sessions, in memory and in files, to lane stores. The inner
# loop plays the corpus natively, and has those suites in memory. Of the conversations that are made up wazero plays a
# third, another one from commit to commit; MADE_SHARD=2/3 says which, and TURNCORE_LONG makes it the whole.
source .ci/lib.sh
need_wasm
export MADE_SHARD=${MADE_SHARD:-$(shard_of 3)}
recorded=(./host/turns ./host/native ./internal/guest)
mapfile -t others < <(go list ./... | grep -vE '/wasm/(build|core|full)(/|$)|/host/(turns|native)$|/internal/guest$')
if [[ -n ${QUICK:-} ]]; then
  # What has not changed is not run again.
  go_test -short -skip='^(TestStore|TestEngineOfThePage)$' "${recorded[@]}" "${others[@]}"
  go_test_in host/cmd/turncore -short
  exit
fi
if [[ -n ${JOURNALS:-} ]]; then
  mkdir -p "$JOURNALS/go"
  export TURNCORE_RECORD_TO="$JOURNALS/go"
fi
beside go_test -count=1 "${recorded[@]}"
unset TURNCORE_RECORD_TO
beside go_test_in host/cmd/turncore -count=1
elsewhere=(./host/conformance ./host/store ./host/store/file ./host/sessions)
beside go_test -count=1 -skip='^(TestCorpus|TestInMemory|TestStore|TestSessions|TestService)$' "${elsewhere[@]}"
mapfile -t others < <(printf '%s\n' "${others[@]}" | grep -vxF -f <(go list "${elsewhere[@]}"))
beside go_test -count=1 "${others[@]}"
together
