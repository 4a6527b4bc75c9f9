# Unit tests of the npm package.
source .ci/lib.sh
need_js
(cd js && npm run -s build:test)
mapfile -t files < <(find js/build/test -name '*.test.js' | sort)
node_test "${files[@]}" js/test/contract/*.test.mjs
