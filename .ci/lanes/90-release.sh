# A release, made in a clone and taken by an empty Go project through a local module proxy. BESIDE
source .ci/lib.sh
need_c_compiler
go_test_in wasm/release -count=1
