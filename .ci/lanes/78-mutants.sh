# Faults seeded into the core: the conformance corpus catches every one. BESIDE
# A twelfth here, another one from commit to commit, all of them in `make test-long` and `make mutants`. `make
# test-long` also makes 200 mutants at random, as `make mutate` does; the shares that it asks for leave room for another
# sample.
source .ci/lib.sh
mkdir -p build
go run ./host/conformance/mutants -shard "$(shard_of 12)" . | tee build/mutants.txt
tests_ran "$(grep -c '^caught' build/mutants.txt)"
if [[ -n ${TURNCORE_LONG:-} ]]; then
  go run ./host/conformance/mutate -count 200 -corpus 75 -all 88 . | tee build/mutate.txt
  tests_ran "$(grep -cE '^(corpus|unit) ' build/mutate.txt)"
fi
