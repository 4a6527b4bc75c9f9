# Every fuzz target of Go, two at a time. What takes bytes from outside (frames, steps, streams)
# is fuzzed for 20 s, whole turns and answers for 10, the rest for 3; FUZZTIME sets one time for all.
source .ci/lib.sh
need_wasm

targets=()
while read -r dir; do
  while read -r name; do targets+=("./$dir $name"); done < <(go test -list '^Fuzz' "./$dir" | grep '^Fuzz' || true)
done < <(git grep -lE '^func Fuzz' -- '*_test.go' | xargs -r -n1 dirname | sort -u)
((${#targets[@]})) || fail 'found no fuzz target'

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export logs
fuzz() {
  local log="$logs/$2" fuzztime=${FUZZTIME:-3s}
  case $2 in
    FuzzDecodeFrame | FuzzStep | FuzzSSE) fuzztime=${FUZZTIME:-20s} ;;
    FuzzTurn | FuzzChatStream) fuzztime=${FUZZTIME:-10s} ;;
  esac
  # At the end of its time the go command may say that a deadline was exceeded. A failure that
  # the target found leaves an input.
  if go test -run='^$' -fuzz="^$2\$" -fuzztime="$fuzztime" -parallel=1 "$1" >"$log" 2>&1 ||
    { grep -q '^ *context deadline exceeded$' "$log" && ! grep -q 'Failing input written' "$log"; }; then
    echo "ok    $1 $2: $(grep -o 'execs: [0-9]*' "$log" | tail -n 1)"
  else
    echo "FAIL  $1 $2"
    cat "$log"
    return 1
  fi
}
export -f fuzz
printf '%s\n' "${targets[@]}" | xargs -P 2 -L 1 bash -c 'fuzz "$@"' fuzz
tests_ran ${#targets[@]}
