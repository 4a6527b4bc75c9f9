#!/usr/bin/env bash
# Runs the test lanes and prints what each took: time, and seconds of processors.
#
#   .ci/test.sh              all lanes
#   LANES="lint go" ...      only these
#   QUICK=1 ...              the inner loop: the lanes whose first comment says QUICK, with go test -short
#
# A lane is a script .ci/lanes/NN-NAME.sh; adding the file adds the lane. It
# tells how many tests it ran with tests_ran of lib.sh: a lane that ran none
# fails, so that a pattern which matches nothing cannot pass.
#
# Lanes whose first comment says BESIDE, since they need none of the others, run one after the other beside those
# that do not, and print when all are done. When those that do not are done, they take over lanes from the end of that
# row.
#
# For the lanes: FUZZTIME (time for each fuzz target; without it 5 s for what takes bytes from outside, less for the
# rest), ROUNDS (how often the race lane runs its tests, 1), LANE_TIMEOUT (for each lane, 15m). What would take too long
# for every commit is played in parts, and the commit chooses which: CORPUS_SHARD=2/4 (the part of the conformance
# corpus that most hosts play), RACE_SHARD, FUZZ_SHARD, HOSTS_SHARD, MADE_SHARD and MODULES_SHARD choose instead, and
# TURNCORE_LONG=1 runs it all, as make test-long does.
set -euo pipefail
cd "$(dirname "$0")/.."
export ROUNDS="${ROUNDS:-1}"

work=$(mktemp -d)
beside=
trap '[[ -z $beside ]] || kill "$beside" 2>/dev/null; rm -rf "$work"' EXIT
export JOURNALS="$work/journals" # what a lane recorded for those behind it
export MADE="$work/made"         # what lanes share and one has made
mkdir "$MADE"

# cpu_seconds: how long processors have worked for what has ended in this shell, in whole seconds.
cpu_seconds() {
  times >"$work/times.$BASHPID"
  awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); n += 60 * t[1] + t[2] } print int(n + 0.5) }' "$work/times.$BASHPID"
}

# run LANE SCRIPT: runs a lane and adds what it took to the summary.
run() {
  local name=$1 script=$2 status=0 result=passed from=$SECONDS cpu tests seconds
  export LANE_COUNT="$work/count.$name"
  printf '\n=== %s\n' "$name"
  : >"$LANE_COUNT"
  # In a shell of its own, whose children are the lane's: those that run beside may end meanwhile.
  (
    timeout --kill-after=20s "${LANE_TIMEOUT:-15m}" bash "$script" </dev/null || status=$?
    cpu_seconds >"$work/cpu.$name"
    exit "$status"
  ) || status=$?
  seconds=$((SECONDS - from))
  cpu=$(<"$work/cpu.$name")
  tests=$(awk '{ n += $1 } END { print n + 0 }' "$LANE_COUNT")
  if ((status == 124 || status == 137)); then
    result='FAILED (out of time)'
  elif ((status != 0)); then
    result="FAILED (exit status $status)"
  elif ((tests == 0)); then
    result='FAILED (ran no test)'
  fi
  printf -- '--- %s: %s, %d tests, %d s, %d s of CPU\n' "$name" "$result" "$tests" "$seconds" "$cpu"
  printf '%-12s %6d s %6d s %8d  %s\n' "$name" "$seconds" "$cpu" "$tests" "$result" >>"$work/summary"
}

# claim SCRIPT: succeeds for the first that asks for the lane.
claim() { mkdir "$work/claimed.$(name_of "$1")" 2>/dev/null; }

# run_unclaimed SCRIPT...: runs lanes one after the other, those that nobody has claimed.
run_unclaimed() {
  local script
  for script in "$@"; do
    if claim "$script"; then run "$(name_of "$script")" "$script"; fi
  done
}

# join: waits for the lanes that run beside and prints what they said.
join() {
  [[ -n $beside ]] || return 0
  wait "$beside" || true # what is in the summary decides
  cat "$work/beside.log"
  beside=
}

name_of() {
  local name
  name=$(basename "$1" .sh)
  echo "${name#[0-9][0-9]-}"
}

# says WORD SCRIPT: the comment that a lane begins with has the word.
says() { sed "/^#/!q" "$2" | grep -qw "$1"; }

begun=$SECONDS failed=0
: >"$work/summary"
asked=" ${LANES:-} "
chosen=() waiting=()
for script in .ci/lanes/*.sh; do
  name=$(name_of "$script")
  if [[ -n ${LANES:-} && $asked != *" $name "* ]]; then continue; fi
  if [[ -n ${QUICK:-} ]] && ! says QUICK "$script"; then continue; fi
  asked=${asked/ $name / }
  chosen+=("$script")
  if says BESIDE "$script"; then waiting+=("$script"); fi
done

for script in "${chosen[@]}"; do
  if says BESIDE "$script"; then
    if [[ $script == "${waiting[0]}" ]]; then
      printf '\n=== beside the others:'
      for each in "${waiting[@]}"; do printf ' %s' "$(name_of "$each")"; done
      echo
      run_unclaimed "${waiting[@]}" >"$work/beside.log" 2>&1 &
      beside=$!
    fi
    continue
  fi
  run "$(name_of "$script")" "$script"
done
if ((${#waiting[@]} > 0)); then
  mapfile -t last_first < <(printf '%s\n' "${waiting[@]}" | tac)
  run_unclaimed "${last_first[@]}"
fi
join

if [[ -n ${asked// /} ]]; then
  echo "no such lane: $asked" >&2
  failed=1
fi
passed=$(grep -c ' passed$' "$work/summary" || true)
failed=$((${#chosen[@]} - passed + failed))
printf '\n%-12s %8s %8s %8s  %s\n' lane time CPU tests result
cat "$work/summary"
cpu_seconds >"$work/cpu"
printf '%-12s %6d s %6d s\n\n' total $((SECONDS - begun)) "$(<"$work/cpu")"
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
