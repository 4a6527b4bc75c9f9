module github.com/turncore/turncore/host/store/postgres

go 1.26.0

toolchain go1.26.8

require (
	github.com/jackc/pgx/v5 v5.12.0
	github.com/turncore/turncore v0.0.0
)

require (
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	github.com/tinylib/msgp v1.6.5 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/sys v0.44.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)

// The modules are released together: a release requires those of its own version, without this line.
replace github.com/turncore/turncore => ../../..
