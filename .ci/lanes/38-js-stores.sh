# The suites turncore/storetest and turncore/sessionstest on each database of the npm package. BESIDE
# And what the databases do when they are damaged, full, locked or taken away, and when workerd, the tab or the browser
# is killed. Of the three ways of using IndexedDB (with files, without, in a worker) Firefox plays one, another one from
# commit to commit, and Chromium the one that follows; TURNCORE_LONG makes it all in both.
# shellcheck disable=SC2154 # need_node sets node24
source .ci/lib.sh
need_js_tests
need_command_go
need_hosts
need_node 24
shard=$(shard_of 3) ways=2
if [[ $shard == 1/1 ]]; then ways=6; fi
suites() {
  {
    "$node24" js/test/stores/sqlite.mjs
    node js/test/stores/suite.mjs "$shard"
  } | hosts_passed "$((8 + ways))"
}
beside suites
PATH=$(dirname "$node24"):$PATH node_test js/test/stores/*.test.mjs
together
