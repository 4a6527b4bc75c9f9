# The benchmark runs and has every figure, and instructions can be counted.
# A quick pass: its numbers say little, `make bench` takes better ones.
source .ci/lib.sh
QUICK=1 .ci/bench.sh
mkdir -p build/counted
go run ./wasm/build -counted -o build/counted
node js/bench/instructions.mjs build/counted/turncore-full.wasm >build/instructions.txt
grep value.Head build/instructions.txt
tests_ran "$(node -p 'JSON.parse(fs.readFileSync("build/bench-quick.json")).reports.reduce((n, r) => n + r.rows.length + (r.starts?.length ?? 0), 0)')"
