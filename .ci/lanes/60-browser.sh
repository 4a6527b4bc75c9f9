# The package in headless Chromium: page and worker.
source .ci/lib.sh
need_js
need_chromium
mapfile -t files < <(find js/test/browser -name '*.test.mjs' 2>/dev/null | sort)
node_test "${files[@]}"
