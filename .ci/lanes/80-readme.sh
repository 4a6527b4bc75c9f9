# The programs in README.md run as they stand.
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

for folder in build/_readme/*/; do runs go run "./$folder"; done
(cd "$consumer" && ls readme-*.mts) | {
  mapfile -t files
  compile_consumer "${files[@]}"
}
for file in "$consumer"/readme-*.mjs; do runs node "$file"; done
