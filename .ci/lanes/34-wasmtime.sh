# The engine on Wasmtime, a module of its own that needs cgo. BESIDE
# The suite of engines, its bounds, and the conformance corpus.
source .ci/lib.sh
need_c_compiler
need_wasm
export CGO_ENABLED=1
go_test_in host/wasmtime -count=1
