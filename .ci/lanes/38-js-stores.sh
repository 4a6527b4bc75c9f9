# The suite turncore/storetest on each database of the npm package, with what the databases do when they are damaged, full
# or locked, and when workerd is killed.
source .ci/lib.sh
need_js
need_hosts
need_node 24
# shellcheck disable=SC2154 # need_node sets it
{
  "$node24" js/test/stores/sqlite.mjs
  node js/test/stores/suite.mjs
} | hosts_passed 5
