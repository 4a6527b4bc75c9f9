# The modules: same bytes from two builds, frozen imports and exports, size
# budget, and which package may know which. The corpus and random programs do the same in each form of the build: other
# programs from commit to commit, and many with TURNCORE_LONG; TURNCORE_SEED=7 says which come first.
source .ci/lib.sh
need_wasm
commit=$(git rev-parse HEAD)
export TURNCORE_SEED=${TURNCORE_SEED:-$((16#${commit::8}))}
go run ./wasm/build # first, so that the tests find what the modules weigh
go_test -count=1 ./wasm/build/... ./wasm/core ./wasm/full
