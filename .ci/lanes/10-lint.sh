# Formatting and style of Go, TypeScript and shell. QUICK
# The inner loop leaves the API reference to the whole.
source .ci/lib.sh
tool() { go tool -modfile=.ci/tools/go.mod "$@"; }

failed=()
# check NAME COMMAND...: goes on after a failure, so that one run shows everything.
check() {
  local name=$1
  shift
  if "$@"; then
    echo "ok    $name"
    tests_ran 1
  else
    echo "FAIL  $name"
    failed+=("$name")
  fi
}

formatted() {
  local files
  files=$(go_files | xargs go tool -modfile=.ci/tools/go.mod gofumpt -l)
  if [[ -n $files ]]; then
    printf 'not formatted (run make fmt):\n%s\n' "$files"
    return 1
  fi
}

in_js() { (cd js && PATH="$PWD/node_modules/.bin:$PATH" "$@"); }

shell_parses() {
  local script status=0
  for script in .ci/*.sh .ci/run .ci/lanes/*.sh; do bash -n "$script" || status=1; done
  return $status
}

need_npm
need_c_compiler
export GOGC=400 # nothing here measures memory: less of the time goes to collections
# What Node checks runs beside what Go checks. What takes long is not checked again, as Go's vet is not, if nothing has
# changed since it passed.
js_types() { bash -c 'source .ci/lib.sh; need_js_types'; }
node_checks() {
  local stamp_name=lint-node
  # remembering TOOL: in the inner loop ESLint and Prettier look at what has changed since they last did.
  remembering() { :; }
  if [[ -n ${QUICK:-} ]]; then
    stamp_name=lint-quick
    remembering() { printf -- '--cache\n--cache-strategy=content\n--cache-location=%s\n' "$PWD/build/cache/$1"; }
  fi
  check 'links in Markdown' node .ci/links.mjs
  check 'columns of comments and Markdown' node .ci/columns.mjs
  check typescript js_types
  if unchanged $stamp_name js examples '*.md'; then
    echo 'ok    eslint, prettier and API reference: as before, nothing has changed'
    tests_ran 4
    return $((${#failed[@]} > 0))
  fi
  local eslint prettier
  mapfile -t eslint < <(remembering eslint)
  mapfile -t prettier < <(remembering prettier)
  check eslint in_js eslint "${eslint[@]}" .
  check 'eslint, examples' js/node_modules/.bin/eslint --config js/eslint.config.js examples
  check prettier in_js prettier "${prettier[@]}" --check --log-level=warn --config .prettierrc . ../examples \
    '!../examples/edge/build' ../.ci
  if [[ -z ${QUICK:-} ]]; then check 'API reference' in_js typedoc --emit none; fi
  ((${#failed[@]} == 0)) && keep_stamp $stamp_name
}
beside node_checks
check 'go vet' go vet ./...
for module in "${own_modules[@]}"; do
  check "go vet, $module" go -C "$module" vet ./...
  check "staticcheck, $module" go -C "$module" tool -modfile="$PWD/.ci/tools/go.mod" staticcheck ./...
  check "go.mod is tidy, $module" go -C "$module" mod tidy -diff
done
check 'go vet, wasip1' env GOOS=wasip1 GOARCH=wasm go vet ./abi/... ./runtime/... ./internal/... ./wasm/module/...
check 'go vet, full' env GOOS=wasip1 GOARCH=wasm go vet -tags=full ./wasm/module/...
check 'go vet, js' env GOOS=js GOARCH=wasm go vet ./wasm/module/...
check staticcheck tool staticcheck ./...
check gofumpt formatted
check 'go.mod is tidy' go mod tidy -diff
check 'shell syntax' shell_parses
together || failed+=('what Node checks')
((${#failed[@]} == 0)) || fail "failed: ${failed[*]}"
