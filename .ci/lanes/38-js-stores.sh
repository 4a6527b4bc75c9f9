# The suites turncore/storetest and turncore/sessionstest on each database of the npm package. BESIDE
# And what the databases do when they are damaged, full, locked or taken away, and when workerd, the tab or the browser is
# killed.
# shellcheck disable=SC2154 # need_node sets node24
source .ci/lib.sh
need_js_tests
need_command_go
need_hosts
need_node 24
suites() {
  {
    "$node24" js/test/stores/sqlite.mjs
    node js/test/stores/suite.mjs
  } | hosts_passed 14
}
beside suites
PATH=$(dirname "$node24"):$PATH node_test js/test/stores/*.test.mjs
together
