# The package, packed and installed, in workerd: made at global scope, run in requests. BESIDE
source .ci/lib.sh
need_agents
new_consumer
export TURNCORE_PACKAGE=$consumer/node_modules/turncore
node_test js/test/workerd/*.test.mjs
