# Faults seeded into the core: the conformance corpus catches every one.
source .ci/lib.sh
mkdir -p build
go run ./host/conformance/mutants . | tee build/mutants.txt
tests_ran "$(grep -c '^caught' build/mutants.txt)"
