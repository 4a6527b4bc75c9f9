// Package sqlstore keeps conversations in a database, by database/sql: what the stores of SQLite and PostgreSQL share.
package sqlstore
