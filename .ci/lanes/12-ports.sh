# vet finds nothing for the systems that no other lane runs on, nor in the command. BESIDE
# Types are read from the sources, so that nothing need be compiled for them; `make test-long` compiles everything too.
source .ci/lib.sh
export GOGC=400 # as in lane lint
vet=$PWD/build/vet
go -C .ci/tools build -o "$vet" ./vet
for system in windows/amd64 darwin/arm64; do
  export GOOS=${system%/*} GOARCH=${system#*/}
  for module in . host/cmd/turncore host/store/sqlite host/store/postgres; do
    echo "$system $module"
    (cd "$module" && GOROOT=$(go env GOROOT) "$vet" ./...)
    tests_ran 1
    if [[ -n ${TURNCORE_LONG:-} ]]; then
      go -C "$module" vet ./...
      go -C "$module" build -o /dev/null ./...
      tests_ran 1
    fi
  done
done
