# The package, packed and installed, in headless Chromium: page and worker. BESIDE
source .ci/lib.sh
need_chromium
need_page_models
need_agents
go run ./host/hostile/internal/write host/testdata/hostile build/hostile
new_consumer
export TURNCORE_PACKAGE=$consumer/node_modules/turncore
node_test js/test/browser/*.test.mjs
