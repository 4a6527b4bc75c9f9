# The hosts under the race detector, several times over in test-long.
source .ci/lib.sh
need_c_compiler
need_wasm
CGO_ENABLED=1 go_test -race -count="${ROUNDS:-1}" ./host/...
CGO_ENABLED=1 go_test_command -race -count="${ROUNDS:-1}"
