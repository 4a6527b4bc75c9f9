# The stores of databases, each a module of its own: SQLite, and PostgreSQL with a server that the tests start.
source .ci/lib.sh
need_postgres
beside go_test_in host/store/sqlite -count=1
beside go_test_in host/store/postgres -count=1
together
