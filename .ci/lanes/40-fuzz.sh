# Fuzz targets of Go, two at a time, of a third of the packages. BESIDE
# It is another third from commit to commit. TURNCORE_LONG makes it all, and FUZZ_SHARD=2/3 says which; lane go runs the
# inputs that are kept of every target. What takes bytes from outside (frames, steps, streams) is fuzzed for 5 s, whole
# turns and answers for 3, the rest for 2; FUZZTIME sets one time for all.
source .ci/lib.sh
need_wasm

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A package's targets are in one program: the go command would link one for each. It would also have Go's library and
# the dependencies count what they cover: each had to be compiled anew, and would run slower. What is new to a target is
# what our packages do with an input.
covered='-gcflags=github.com/turncore/turncore/...=-d=libfuzzer'
: >"$work/targets"
while read -r dir; do
  program=$work/${dir//\//-}.test
  go test -c -vet=off -ldflags='-s -w' "$covered" -o "$program" "./$dir"
  cache=$(go env GOCACHE)/fuzz/$(go list "./$dir")
  mkdir -p "$cache"
  (cd "$dir" && "$program" -test.list='^Fuzz') | sed "s|^|$dir $program $cache |" >>"$work/targets"
done < <(git grep -lE '^func Fuzz' -- '*_test.go' | xargs -r -n1 dirname | sort -u | of_shard "${FUZZ_SHARD:-$(shard_of 3)}")
[[ -s $work/targets ]] || fail 'found no fuzz target'

export work
fuzz() {
  local dir=$1 program=$2 cache=$3 target=$4 log="$2.$4.log" fuzztime=${FUZZTIME:-2s}
  case $target in
    FuzzDecodeFrame | FuzzStep | FuzzSSE) fuzztime=${FUZZTIME:-5s} ;;
    FuzzTurn | FuzzInvocation | FuzzChatStream) fuzztime=${FUZZTIME:-3s} ;;
  esac
  # An input that reaches further is made smaller ten times and no more: the default, a minute for each, would leave no
  # time to look for others. At the end of its time a target may say that a deadline was exceeded. A failure that it
  # found leaves an input.
  if (cd "$dir" && "$program" -test.run='^$' -test.fuzz="^$target\$" -test.fuzztime="$fuzztime" -test.fuzzminimizetime=10x \
    -test.fuzzcachedir="$cache" -test.parallel=1) >"$log" 2>&1 ||
    { grep -q '^ *context deadline exceeded$' "$log" && ! grep -q 'Failing input written' "$log"; }; then
    echo "ok    ./$dir $target: $(grep -oE 'execs: [0-9]+|baseline coverage: [0-9/]+' "$log" | tail -n 1)"
  else
    echo "FAIL  ./$dir $target"
    cat "$log"
    return 1
  fi
}
export -f fuzz
xargs -P 2 -L 1 bash -c 'fuzz "$@"' fuzz <"$work/targets"
tests_ran "$(wc -l <"$work/targets")"
