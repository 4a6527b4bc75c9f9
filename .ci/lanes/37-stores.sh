# The suite of package storetest on each store, which the last line of each names. BESIDE
# And what else tests the stores of databases, each a module of its own. PostgreSQL's tests start a server.
source .ci/lib.sh
need_postgres

# suite NAME FOLDER TEST: the test that runs the suite in a folder.
suite() {
  local out
  out=$(go -C "$2" test -count=1 -v -run "^$3\$" . 2>&1) || fail "$out"
  sed -nE "s/^ *[a-z_]+\.go:[0-9]+: store: ([0-9]+ passed)$/$1: \1/p" <<<"$out"
}

{
  suite memory host/store TestInMemory
  suite file host/store/file TestStore
  suite SQLite host/store/sqlite TestSuite
  suite PostgreSQL host/store/postgres TestSuite
} | hosts_passed 4
beside go_test_in host/store/sqlite -count=1 -skip='^TestSuite$'
beside go_test_in host/store/postgres -count=1 -skip='^TestSuite$'
together
