# The demo page in headless Chromium: a conversation with a tool call.
source .ci/lib.sh
need_js
need_chromium
need_page_models
mapfile -t files < <(find examples -name '*.test.mjs' -not -path '*/node_modules/*' | sort)
node_test "${files[@]}"
