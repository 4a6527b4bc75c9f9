# The modules: same bytes from two builds, frozen imports and exports, size
# budget, and which package may know which.
source .ci/lib.sh
need_wasm
beside go_test -count=1 ./wasm/build/... ./wasm/core ./wasm/full
beside go_test_in wasm/size -count=1
beside go run ./wasm/build
together
