# The demo page in headless Chromium: a conversation with a tool call.
source .ci/lib.sh
need_js
need_chromium
mapfile -t files < <(find examples -name '*.test.mjs' | sort)
node_test "${files[@]}"
