# The benchmark runs: a quick pass, for its numbers take make bench.
source .ci/lib.sh
need_js
mkdir -p build/bench
go run ./host/bench -quick -json build/bench/quick-go.json
node js/bench/bench.mjs --quick --json build/bench/quick-node.json
for file in build/bench/quick-{go,node}.json; do
  rows=$(node -e 'console.log(JSON.parse(require("fs").readFileSync(process.argv[1])).rows.length)' "$file")
  echo "$file: $rows rows"
  tests_ran "$rows"
done
