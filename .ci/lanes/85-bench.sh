# The benchmark runs and every figure is there: a quick pass, for numbers take
# make bench.
source .ci/lib.sh
QUICK=1 .ci/bench.sh
rows=$(node -p 'JSON.parse(require("fs").readFileSync("build/bench/all.json")).reports.flatMap((r) => r.rows).length')
tests_ran "$rows"
