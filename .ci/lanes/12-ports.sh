# Everything compiles, and vet finds nothing, for the systems that no other lane runs on.
source .ci/lib.sh
for system in windows/amd64 darwin/arm64; do
  echo "vet   $system"
  GOOS=${system%/*} GOARCH=${system#*/} go vet ./...
  tests_ran 1
done
