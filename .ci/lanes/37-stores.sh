# The suites of package storetest on each store, and of package sessionstest on sessions in each. BESIDE
# The last line of each names it.
# And what else tests the stores of databases, each a module of its own. PostgreSQL's tests start a server.
source .ci/lib.sh
need_postgres

programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT

# suite NAME FOLDER TEST: the test that runs the suite in a folder. Its program is linked once for all tests.
suite() {
  local out program=$programs/${2//\//-}.test
  [[ -x $program ]] || go -C "$2" test -c -vet=off -ldflags='-s -w' -o "$program" .
  out=$(cd "$2" && "$program" -test.timeout=10m -test.v -test.run "^$3\$" 2>&1) || fail "$out"
  sed -nE "s/^ *[a-z_]+\.go:[0-9]+: store: ([0-9]+ passed)$/$1: \1/p" <<<"$out"
}

on_postgres() {
  {
    suite PostgreSQL host/store/postgres TestSuite
    suite 'sessions in PostgreSQL' host/store/postgres TestSessions
  } | hosts_passed 2
  go_test_in host/store/postgres -count=1 -skip='^Test(Suite|Sessions)$'
}
on_others() {
  {
    suite memory host/store TestInMemory
    suite file host/store/file TestStore
    suite SQLite host/store/sqlite TestSuite
    suite 'sessions in memory' host/sessions TestService
    suite 'sessions in files' host/store/file TestSessions
    suite 'sessions in SQLite' host/store/sqlite TestSessions
  } | hosts_passed 6
  go_test_in host/store/sqlite -count=1 -skip='^Test(Suite|Sessions)$'
}
beside on_postgres # both wait for the disk
beside on_others
together
