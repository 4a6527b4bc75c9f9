# Sourced by the lanes and by the Makefile's targets: strict mode, the folder
# of the project, and what a lane needs installed. Each need_* function does
# nothing when the thing is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Without the paths of this machine, what is compiled of Go's library and of dependencies for one lane is found again by
# all others: also by the modules, which are built so, and by the release, which lies elsewhere.
# Compilers that collect garbage less often take a fifth less of the processors; what they make keeps Go's default.
for flag in -trimpath "'-toolexec=env GOGC=400'"; do
  [[ " ${GOFLAGS:-} " == *" $flag "* ]] || GOFLAGS="${GOFLAGS:+$GOFLAGS }$flag"
done
export GOFLAGS

# tests_ran N: the lane has run N tests.
tests_ran() {
  echo "$1" >>"${LANE_COUNT:-/dev/null}"
}

# hosts_passed HOSTS: reads what so many hosts say they have played, each on a line `NAME: N passed`.
hosts_passed() {
  local line count=0
  while read -r line; do
    [[ $line =~ ^(.*):\ ([0-9]+)\ passed$ ]] || continue
    echo "$line"
    tests_ran "${BASH_REMATCH[2]}"
    count=$((count + 1))
  done
  ((count == $1)) || fail "$count hosts played, not $1"
}

# shard_of N: the part, such as 2/3, that this commit plays of what is played in N parts: TURNCORE_LONG makes it the
# whole.
shard_of() {
  local commit
  if [[ -n ${TURNCORE_LONG:-} ]]; then
    echo 1/1
    return
  fi
  commit=$(git rev-parse HEAD)
  echo "$((16#${commit::8} % $1 + 1))/$1"
}

# of_shard PART: of the lines that it reads, those of a part such as 2/3: every third line, the second first.
of_shard() { awk -v which="${1%/*}" -v of="${1#*/}" '(NR - 1) % of == which - 1'; }

# keep_shard PART FOLDER: removes the journals of a folder that are not in the part, and says how many it leaves.
keep_shard() {
  local all kept
  all=$(find "$2" -name '*.journal' | sort)
  kept=$(of_shard "$1" <<<"$all")
  [[ -n $kept ]] || fail "$2 holds no journal"
  comm -23 <(echo "$all") <(echo "$kept") | xargs -r -d '\n' rm
  wc -l <<<"$kept"
}

# fail MESSAGE: ends the lane.
fail() {
  echo "$*" >&2
  exit 1
}

# progress TEXT: what is done meanwhile, for those who wait.
progress() { echo "$*" >&2; }

# one_at_a_time COMMAND...: what lanes that run beside each other may both make: one makes it, the other waits.
one_at_a_time() {
  local lock
  if [[ -n ${making:-} ]]; then
    "$@" # the lock is ours
    return
  fi
  mkdir -p build
  exec {lock}>build/lock
  flock "$lock"
  making=1
  "$@"
  making=
  exec {lock}>&-
}

# alone_with THING: waits until no other lane has what lanes share; this one has it until it ends.
alone_with() {
  local lock
  mkdir -p build
  exec {lock}>"build/lock.$1"
  flock "$lock"
}

# make_once COMMAND...: makes what lanes share. Within a run of .ci/test.sh, whose sources stay as they are, the first
# lane that needs it makes it, and those behind it do not look again. MADE names the folder where the run notes it.
make_once() { one_at_a_time note_made "$@"; }
note_made() {
  local note="${MADE:-}/${*//\//-}"
  if [[ -n ${MADE:-} && -f $note ]]; then return; fi
  "$@"
  [[ -z ${MADE:-} ]] || : >"$note"
}

# need_command COMMAND PACKAGE...: installs Debian packages when COMMAND is missing.
need_command() { one_at_a_time install_command "$@"; }
install_command() {
  local command=$1
  shift
  if command -v "$command" >/dev/null; then return; fi
  local apt=(apt-get)
  if ! command -v apt-get >/dev/null; then
    fail "$command is missing and this system has no apt-get: install $* by hand"
  fi
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
      fail "$command is missing and installing it needs root: run 'apt-get install $*' as root"
    fi
    apt=(sudo -n apt-get)
  fi
  echo "installing $*"
  "${apt[@]}" update -qq
  DEBIAN_FRONTEND=noninteractive "${apt[@]}" install -y -qq --no-install-recommends "$@" >/dev/null
  command -v "$command" >/dev/null || fail "$command is still missing after installing $*"
}

# need_npm: the JavaScript tools, exactly as locked.
need_npm() {
  need_packages js
}

# need_page_models: the libraries that run models in the page, for the demo and its tests.
need_page_models() {
  need_packages examples/browser
}

# need_packages FOLDER: its npm packages, exactly as locked.
need_packages() { make_once install_packages "$@"; }
install_packages() {
  command -v npm >/dev/null || fail 'npm is missing: install Node 20.19 or later'
  local stamp=$1/node_modules/.installed-lock.json
  if cmp -s "$1/package-lock.json" "$stamp"; then return; fi
  progress "installing the npm packages of $1"
  (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
  cp "$1/package-lock.json" "$stamp"
}

# need_wasm: the modules in wasm/core and wasm/full, from the sources as they are. PLAIN=1 leaves the baking out, and
# LINKED=1 the rewriting: what goes wrong with and not without it is its fault.
need_wasm() { make_once build_wasm; }
build_wasm() {
  progress 'building the modules'
  GOGC=400 go run ./wasm/build -sizes=0 "${wasm_form[@]}"
}
wasm_form=(${PLAIN:+-plain} ${LINKED:+-linked})

# need_js: the npm package in js/dist, with the module in it. Whether its types are right is for need_js_types.
need_js() { make_once build_js; }
build_js() {
  need_npm
  need_wasm
  built js/dist js/src js/tools js/package.json js/tsconfig.json wasm/core wasm/full LICENSE && return
  progress 'building the npm package'
  (cd js && node tools/clean.mjs dist && npm run -s build:unchecked && npm run -s copy-assets)
  keep_stamp js/dist
}

# need_js_types: the types of the npm package and of its tests are right. What the compiler writes on the way are the
# tests in js/build, without the modules.
need_js_types() { make_once build_js_types; }
build_js_types() {
  need_npm
  built js/build js/src js/test js/bench js/tools js/package.json js/tsconfig.json js/tsconfig.test.json && return
  (cd js && npm run -s build:types)
  keep_stamp js/build
}

# need_js_tests: the tests of the npm package in js/build.
need_js_tests() { make_once build_js_tests; }
build_js_tests() {
  need_js
  need_js_types
  (cd js && node tools/test-package.mjs)
}

# built FOLDER PLACE...: succeeds when FOLDER was built from the files in PLACE... as they are. Otherwise keep_stamp
# FOLDER, called after the build, notes what they were.
built() {
  local folder=$1
  shift
  stamp=$(find "$@" -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
  local kept=build/stamps/${folder//\//-}
  [[ -d $folder && -f $kept && $(<"$kept") == "$stamp" ]]
}
keep_stamp() {
  mkdir -p build/stamps
  echo "$stamp" >"build/stamps/${1//\//-}"
}

# unchanged NAME PLACE...: succeeds when all that git has or would add in PLACE... and .ci is as when NAME passed.
# keep_stamp NAME, called after it has passed, notes what that was.
unchanged() {
  local name=$1
  shift
  stamp=$({
    node --version
    git ls-files -z --cached --others --exclude-standard -- "$@" .ci | sort -z | xargs -0 sha256sum 2>&1
  } | sha256sum)
  [[ -f build/stamps/$name && $(<"build/stamps/$name") == "$stamp" ]]
}

# need_commands: the command in both languages, build/turncore and js/dist/cli/main.js.
need_commands() {
  need_js
  need_command_go
}

# need_command_go: the Go command, build/turncore.
need_command_go() { make_once build_command_go; }
build_command_go() {
  progress 'building the command turncore'
  mkdir -p build
  go -C host/cmd/turncore build -o "$PWD/build/turncore" .
}

# need_agents: the example agents, in build/agents.
need_agents() { make_once build_agents; }
build_agents() {
  need_command_go
  progress 'building the agents of the examples'
  mkdir -p build/agents
  local folder
  for folder in research moderation testdata/panel; do
    build/turncore agent build "examples/agents/$folder" -o "build/agents/${folder##*/}.wasm" >/dev/null
  done
  build/turncore agent build --meter examples/agents/testdata/panel -o build/agents/panel-metered.wasm >/dev/null
}

# need_chromium: Chromium, unless CHROMIUM names one.
need_chromium() {
  [[ -n ${CHROMIUM:-} ]] || need_command chromium chromium fonts-dejavu-core
}

# need_postgres: the programs of a PostgreSQL server. Debian has initdb outside of PATH.
need_postgres() {
  command -v initdb >/dev/null || need_command pg_ctlcluster postgresql
}

# need_node MAJOR: the variable nodeMAJOR, such as node24, names Node of that major version: the one that is there, or a
# pinned one from npm beside it.
need_node() { one_at_a_time install_node "$@"; }
install_node() {
  local -n node=node$1
  node=$(command -v node)
  if [[ $(node --version) == v"$1".* ]]; then return; fi
  local version machine folder=build/node$1
  case $1 in
    20) version=20.20.2 ;;
    22) version=22.23.3 ;;
    24) version=24.21.0 ;;
    26) version=26.10.0 ;;
    *) fail "Node $1 is not pinned" ;;
  esac
  case $(uname -sm) in
    'Linux x86_64') machine=linux-x64 ;;
    'Linux aarch64') machine=linux-arm64 ;;
    'Darwin arm64') machine=darwin-arm64 ;;
    *) fail "no Node $1 for $(uname -sm): install it and put it first in PATH" ;;
  esac
  node=$PWD/$folder/node_modules/node-$machine/bin/node
  if [[ -x $node && $("$node" --version) == "v$version" ]]; then return; fi
  mkdir -p "$folder"
  echo '{ "private": true }' >"$folder/package.json"
  (cd "$folder" && npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error "node-$machine@$version")
}

# need_hosts: the hosts and bundlers of js/test/hosts/package.json, in the folder that TURNCORE_HOSTS then names; and
# the browsers.
need_hosts() { one_at_a_time install_hosts; }
install_hosts() {
  [[ $(uname -sm) == 'Linux x86_64' ]] || fail 'the hosts are pinned for Linux on x86-64'
  need_chromium
  [[ -n ${FIREFOX:-} ]] || need_command firefox-esr firefox-esr
  need_command WebKitWebDriver webkit2gtk-driver
  need_command Xvfb xvfb
  export TURNCORE_HOSTS=$PWD/build/hosts
  local stamp=$TURNCORE_HOSTS/node_modules/.installed-lock.json
  if cmp -s js/test/hosts/package-lock.json "$stamp"; then return; fi
  mkdir -p "$TURNCORE_HOSTS"
  cp js/test/hosts/package{,-lock}.json "$TURNCORE_HOSTS"
  (cd "$TURNCORE_HOSTS" && npm install --ignore-scripts --no-audit --no-fund --loglevel=error)
  cp js/test/hosts/package-lock.json "$stamp"
}

# nodes_and_hosts: all hosts, and each Node that is supported, in node20 and so on.
nodes_and_hosts() {
  need_hosts
  local major
  for major in 20 22 24 26; do need_node "$major"; done
  # shellcheck disable=SC2154 # need_node sets them
  export TURNCORE_NODES=$node20:$node22:$node24:$node26
}

# need_c_compiler: cgo compiles with it, and Go's race detector links with it.
need_c_compiler() {
  need_command gcc gcc libc6-dev
}

# go_test ARGUMENT...: go test, with failures and skipped tests printed and passed ones counted. What vet says is for
# lane lint, which asks it for more. GOROOT is for tests that read the sources of Go's library: -trimpath leaves out
# where they are.
go_test() {
  GOROOT=$(go env GOROOT) go test -vet=off -json "$@" 2>&1 | node .ci/go-reporter.mjs
}

# go_test_in FOLDER ARGUMENT...: likewise for a module of its own in a folder.
go_test_in() {
  local folder=$1
  shift
  GOROOT=$(go env GOROOT) go -C "$folder" test -vet=off -json "$@" ./... 2>&1 | node .ci/go-reporter.mjs
}

# beside COMMAND...: runs a command beside what follows, until together.
beside() {
  local log
  log=$(mktemp)
  "$@" >"$log" 2>&1 &
  besides+=("$! $log")
}
besides=()

# together: waits for all that runs beside and prints what it said; fails if a command failed.
together() {
  local each status=0
  for each in "${besides[@]}"; do
    wait "${each% *}" || status=1
    cat "${each#* }"
    rm "${each#* }"
  done
  besides=()
  return $status
}

# Modules of their own, so that their dependencies are not the library's.
own_modules=(host/cmd/turncore host/store/sqlite host/store/postgres host/wasmtime wasm/release)

# node_test FILE...: node's test runner, likewise, with a process for each processor; left alone it spares one. V8 does
# not optimize the module, which costs such short programs more than it gives; lane conformance has it optimized.
node_test() {
  (($#)) || fail 'no test file given'
  node --liftoff-only --test --test-concurrency="$(nproc)" --test-reporter="$PWD/.ci/node-reporter.mjs" "$@"
}

# node_test_together FILE...: likewise for files that leave nothing behind in their process: four processes share them,
# and each loads the package and compiles its module once.
node_test_together() {
  (($#)) || fail 'no test file given'
  local folder=$PWD/build/together file=0 each
  rm -rf "$folder"
  mkdir -p "$folder"
  for each in "$@"; do
    printf "import '%s';\n" "$(realpath --relative-to="$folder" "$each")" >>"$folder/$((file++ % 4)).test.mjs"
  done
  node_test "$folder"/*.test.mjs
}

# go_files: the Go files that people write.
go_files() {
  git ls-files --cached --others --exclude-standard -- '*.go' ':!*_gen.go' ':!*_gen_test.go' | while read -r file; do
    if [[ -f $file ]] && ! head -n 5 "$file" | grep -q '^// Code generated .* DO NOT EDIT\.$'; then echo "$file"; fi
  done
}

# pack FOLDER: packs the npm package into the folder, with nothing else in it. build/package keeps it for other lanes.
pack() {
  one_at_a_time pack_js
  rm -rf "$1"
  mkdir -p "$1"
  cp build/package/*.tgz "$1"
}
pack_js() {
  built build/package js/dist js/package.json js/README.md LICENSE && return
  rm -rf build/package
  mkdir -p build/package
  cp LICENSE js/LICENSE
  (cd js && npm pack --silent --ignore-scripts --pack-destination ../build/package >/dev/null)
  keep_stamp build/package
}

# new_consumer: packs the npm package and installs it into an empty project of the lane's own, which the variable
# consumer then names.
new_consumer() {
  need_js
  make_once install_consumer
  consumer=$PWD/build/consumers/$(basename "$0" .sh)
  rm -rf "$consumer"
  mkdir -p build/consumers
  cp -a build/consumer "$consumer"
}
install_consumer() {
  pack build/consumer
  (
    cd build/consumer
    echo '{ "name": "consumer", "version": "1.0.0", "private": true, "type": "module" }' >package.json
    npm install --ignore-scripts --no-audit --no-fund --loglevel=error ./turncore-*.tgz
  )
}

# compile_consumer ARGUMENT...: type checks TypeScript of the empty project, the
# package's declarations too, and compiles it. ARGUMENT is a file or an option of tsc.
compile_consumer() {
  (
    cd "$consumer"
    node "$OLDPWD/js/node_modules/typescript/lib/tsc.js" --strict --exactOptionalPropertyTypes \
      --target es2022 --lib es2023,dom,dom.iterable,dom.asynciterable --module nodenext "$@"
  )
}
