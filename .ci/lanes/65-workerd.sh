# The package in workerd: constructed at global scope, run in a request.
source .ci/lib.sh
need_js
mapfile -t files < <(find js/test/workerd -name '*.test.mjs' 2>/dev/null | sort)
node_test "${files[@]}"
