# The hosts under the race detector, several times over in test-long. Suites of engines that share all their code with
# those that run here are left to the lane go: an interpreter under the detector takes minutes. So are tests that fill
# hundreds of MiB of memory, as the detector shadows every byte, or that count what is allocated, as pools drop things at
# random under it, and those of files that are torn or damaged, or whose process is killed: one goroutine after the other
# reads them. And so is the building of agents, in one goroutine too; test-long watches it. A command that is built wrong
# is compiled here as well, and agents run here.
source .ci/lib.sh
need_c_compiler
need_wasm
export CGO_ENABLED=1
# Alternatives in parentheses would be a pattern for whole tests: none of their parts would be skipped.
elsewhere='^TestEngine$/^interpreter$|^TestEngine$/^metered$|^TestEngineOfThePage$|^TestTurnsBeyondTheQuotaFailAlone$|^TestLongArtifactsCostNoMemory$'
elsewhere+='|^TestLargeMessageIsNoGarbage$'
elsewhere+='|^TestTorn|^TestFlippedBits|^TestKilled$'
if [[ -z ${TURNCORE_LONG:-} ]]; then elsewhere+='|^TestPackage$|^TestPackageMeters$|^TestAgentFromNewToRun$|^TestGreets$'; fi
beside go_test_in host/cmd/turncore -race -count="${ROUNDS:-1}" -skip="$elsewhere"
beside go_test -race -count="${ROUNDS:-1}" -skip="$elsewhere" ./host/...
together
