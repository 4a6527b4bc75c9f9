# Go tests of everything but the build, with the module present.
source .ci/lib.sh
need_wasm
go list ./... | grep -vE '/wasm/(build|core|full|release)$' | {
  mapfile -t packages
  go_test -count=1 "${packages[@]}"
}
