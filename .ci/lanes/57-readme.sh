# The programs in README.md and docs/ run as they stand. BESIDE
source .ci/lib.sh
new_consumer
rm -rf build/_readme
trap 'rm -rf build/_readme' EXIT # the underscore hides it from ./...
node .ci/readme.mjs build/_readme "$consumer"

# runs COMMAND...: the program ends well and says something.
runs() {
  echo "run   $*"
  local said
  said=$("$@") || fail "failed: $*"
  [[ -n $said ]] || fail "said nothing: $*"
  tests_ran 1
}

for folder in build/_readme/*/; do
  if compgen -G "$folder*_test.go" >/dev/null; then
    runs go test "./$folder" -update # writes the files that the tests compare with
    runs go test -count=1 "./$folder"
  else
    runs go run "./$folder"
  fi
done
typescript=$(cd "$consumer" && find . -maxdepth 1 -name 'program-*.mts')
if [[ -n $typescript ]]; then
  # shellcheck disable=SC2086 # the names hold no spaces
  compile_consumer --types node --typeRoots "$PWD/js/node_modules/@types" $typescript
fi
for file in "$consumer"/program-*.mjs; do runs node "$file"; done
