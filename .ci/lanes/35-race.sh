# The hosts under the race detector: a third of the packages, another one from commit to commit, and all of them,
# several times over, in test-long; RACE_SHARD=2/3 says which. Suites of engines that share all their code with those
# that run here are left to the lane go: an interpreter under the detector takes minutes. So are tests that fill
# hundreds of MiB of memory, as the detector shadows every byte, or that count what is allocated, as pools drop things
# at random under it, and those of files that are torn or damaged, or whose process is killed: one goroutine after the
# other reads them. So is the building of agents, in one goroutine too, and what plays the corpus once more on the
# native engine, for a table or for a store whose suite runs here; test-long watches these. A command that is built
# wrong is compiled here as well, and agents run here. Of recordings, those that were made up are left to the lane go;
# so are, of what each engine does for the command, wazero's conversations with each provider, as the native engine's
# run here. Of the corpus each engine, and how it is used, plays a quarter that follows on that of the one before; of
# the modules that want to harm their host a quarter runs. Other quarters do from commit to commit; CORPUS_SHARD=2/4 and
# MODULES_SHARD=2/4 say which, and TURNCORE_LONG makes it the whole.
source .ci/lib.sh
need_c_compiler
need_wasm
export CGO_ENABLED=1
command_module=host/cmd/turncore
# Packages without a second goroutine, in the code or in the tests.
alone=(agents/build internal/{bench/figure,ledger,partial,sse,stash,trace,typed} toolgen)
if grep -nE '^[[:space:]]*go [a-z]|\.Go\(|t\.Parallel\(|"sync("|/)' $(printf 'host/%s/*.go ' "${alone[@]}"); then
  fail 'this needs the race detector'
fi
mapfile -t watched < <(go list ./host/... | grep -vxF "$(printf 'github.com/turncore/turncore/host/%s\n' "${alone[@]}")")
# The command, a module of its own, is one of them.
mapfile -t watched < <(printf '%s\n' "$command_module" "${watched[@]}" | of_shard "${RACE_SHARD:-$(shard_of 3)}")
# Alternatives in parentheses would be a pattern for whole tests: none of their parts would be skipped.
elsewhere='^TestEngine$/^interpreter$|^TestEngine$/^metered$|^TestEngineOfThePage$|^TestTurnsBeyondTheQuotaFailAlone$|^TestLongArtifactsCostNoMemory$'
elsewhere+='|^TestLargeMessageIsNoGarbage$'
elsewhere+='|^TestTorn|^TestFlippedBits|^TestKilled$'
if [[ -z ${TURNCORE_LONG:-} ]]; then
  elsewhere+='|^TestPackage$|^TestPackageMeters$|^TestAgentFromNewToRun$|^TestGreets$'
  # Hundreds of MiB.
  elsewhere+='|^TestCorpus$/.*/^faults$/^too-large-in-all$|^TestInMemory$/^large_bytes$|^TestStore$/^large_bytes$'
  elsewhere+='|^TestService$/^a_state_that_is_too_large_is_refused$|^TestSessions$/^a_state_that_is_too_large_is_refused$'
  # A file system that is waited for, call after call.
  elsewhere+='|^TestStore$/^10,000_sessions$|^TestStore$/^10,000_events$|^TestStore$/^10,000_entries$'
  # The corpus again.
  elsewhere+='|^TestMarks$|^TestStoreKeepsTheCorpus$|^TestKeepsTheCorpus$|^TestStoredForms$|^TestSeams$'
  # One goroutine: modules that are compiled, and texts that are read.
  elsewhere+='|^TestInstancesShareAnImage$|^TestMemoryOnTheHeap$|^TestWorkflowOfThePage$'
  elsewhere+='|^TestHostileJournals$|^TestMutations$|^TestRewrite$|^TestCandidates$|^TestDraw$|^TestFormer$|^TestUpdating$'
  commands='|^TestRunAgent$|^TestMadeRecordings$|^TestProviders$/^wazero$'
  export CORPUS_SHARD=${CORPUS_SHARD:-$(shard_of 4)} MODULES_SHARD=${MODULES_SHARD:-$(shard_of 4)}
fi
if [[ ${watched[0]} == "$command_module" ]]; then
  # Once for both that follow: beside each other they would compile the same twice.
  go -C "$command_module" build -race -o /dev/null .
  beside go_test_in "$command_module" -race -count="${ROUNDS:-1}" -skip="$elsewhere${commands:-}"
  watched=("${watched[@]:1}")
fi
beside go_test -race -count="${ROUNDS:-1}" -skip="$elsewhere" "${watched[@]}"
together
