# The demo page in headless Chromium, and the Worker of examples/edge on workerd: conversations with tool calls. BESIDE
source .ci/lib.sh
need_js
need_chromium
need_page_models
need_agents
alone_with examples-edge
need_packages examples/edge
mapfile -t files < <(find examples -name '*.test.mjs' -not -path '*/node_modules/*' | sort)
node_test "${files[@]}"
