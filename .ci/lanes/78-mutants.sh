# Faults seeded into the core: the conformance corpus catches every one. Every sixth here, all of them in `make test-long`
# and `make mutants`. `make test-long` also makes a hundred mutants at random, as `make mutate` does.
source .ci/lib.sh
mkdir -p build
every=6
if [[ -n ${TURNCORE_LONG:-} ]]; then every=1; fi
go run ./host/conformance/mutants -every "$every" . | tee build/mutants.txt
tests_ran "$(grep -c '^caught' build/mutants.txt)"
if [[ -n ${TURNCORE_LONG:-} ]]; then
  go run ./host/conformance/mutate -count 100 -corpus 70 -all 80 . | tee build/mutate.txt
  tests_ran "$(grep -cE '^(corpus|unit) ' build/mutate.txt)"
fi
