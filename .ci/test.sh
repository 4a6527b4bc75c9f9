#!/usr/bin/env bash
# Runs the test lanes one after the other and prints what each took: time, and seconds of processors.
#
#   .ci/test.sh              all lanes
#   LANES="lint go" ...      only these
#   QUICK=1 ...              the inner loop: the lanes that say QUICK in their first line, with go test -short
#
# A lane is a script .ci/lanes/NN-NAME.sh; adding the file adds the lane. It
# tells how many tests it ran with tests_ran of lib.sh: a lane that ran none
# fails, so that a pattern which matches nothing cannot pass.
#
# For the lanes: FUZZTIME (time for each fuzz target; without it 10 s for what takes bytes from outside, less for the rest), ROUNDS (how
# often the race lane runs its tests, 1), CORPUS_PART (the part of the conformance corpus that most hosts play, such as
# 2/4; without it the commit chooses), LANE_TIMEOUT (for each lane, 15m).
set -euo pipefail
cd "$(dirname "$0")/.."
export ROUNDS="${ROUNDS:-1}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LANE_COUNT="$work/count"
export JOURNALS="$work/journals" # what a lane recorded for those behind it

# cpu_seconds: how long processors have worked for what has ended here, in whole seconds.
cpu_seconds() {
  times >"$work/times"
  awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); n += 60 * t[1] + t[2] } print int(n + 0.5) }' "$work/times"
}

passed=0 failed=0 begun=$SECONDS
summary=()
asked=" ${LANES:-} "
for script in .ci/lanes/*.sh; do
  name=$(basename "$script" .sh)
  name=${name#[0-9][0-9]-}
  if [[ -n ${LANES:-} && $asked != *" $name "* ]]; then continue; fi
  if [[ -n ${QUICK:-} ]] && ! head -n 1 "$script" | grep -q QUICK; then continue; fi
  asked=${asked/ $name / }

  printf '\n=== %s\n' "$name"
  : >"$LANE_COUNT"
  from=$SECONDS result=passed
  cpu_seconds >"$work/from"
  status=0
  timeout --kill-after=20s "${LANE_TIMEOUT:-15m}" bash "$script" </dev/null || status=$?
  seconds=$((SECONDS - from))
  cpu_seconds >"$work/to"
  cpu=$(($(<"$work/to") - $(<"$work/from")))
  tests=$(awk '{ n += $1 } END { print n + 0 }' "$LANE_COUNT")
  if ((status == 124 || status == 137)); then
    result='FAILED (out of time)'
  elif ((status != 0)); then
    result="FAILED (exit status $status)"
  elif ((tests == 0)); then
    result='FAILED (ran no test)'
  fi
  if [[ $result == passed ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  printf -- '--- %s: %s, %d tests, %d s, %d s of CPU\n' "$name" "$result" "$tests" "$seconds" "$cpu"
  summary+=("$(printf '%-12s %6d s %6d s %8d  %s' "$name" "$seconds" "$cpu" "$tests" "$result")")
done

if [[ -n ${asked// /} ]]; then
  echo "no such lane: $asked" >&2
  failed=$((failed + 1))
fi
printf '\n%-12s %8s %8s %8s  %s\n' lane time CPU tests result
if ((${#summary[@]})); then printf '%s\n' "${summary[@]}"; fi
cpu_seconds >"$work/to"
printf '%-12s %6d s %6d s\n\n' total $((SECONDS - begun)) "$(<"$work/to")"
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
