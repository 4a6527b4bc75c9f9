# The hosts under the race detector, several times over in test-long. Two suites of engines that share all their code with
# those that run here are left to the lane go: an interpreter under the detector takes minutes. So are two tests that fill
# hundreds of MiB of memory: the detector shadows every byte.
source .ci/lib.sh
need_c_compiler
need_wasm
export CGO_ENABLED=1
beside go_test_in host/cmd/turncore -race -count="${ROUNDS:-1}"
# Alternatives in parentheses would be a pattern for whole tests: none of their parts would be skipped.
elsewhere='^TestEngine$/^interpreter$|^TestEngineOfThePage$|^TestTurnsBeyondTheQuotaFailAlone$|^TestLongArtifactsCostNoMemory$'
beside go_test -race -count="${ROUNDS:-1}" -skip="$elsewhere" ./host/...
together
