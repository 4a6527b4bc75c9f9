# The benchmark runs and has every figure.
# A quick pass: its numbers say little, `make bench` takes better ones.
source .ci/lib.sh
QUICK=1 .ci/bench.sh
tests_ran "$(node -p 'JSON.parse(fs.readFileSync("build/bench-quick.json")).reports.reduce((n, r) => n + r.rows.length + (r.starts?.length ?? 0), 0)')"
