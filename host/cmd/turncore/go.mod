module github.com/turncore/turncore/host/cmd/turncore

go 1.26.0

toolchain go1.26.8

require (
	github.com/briandowns/spinner v1.23.2
	github.com/fatih/color v1.19.0
	github.com/turncore/turncore v0.0.0
	golang.org/x/term v0.43.0
)

require (
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/mattn/go-colorable v0.1.16 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	github.com/tinylib/msgp v1.6.5 // indirect
	golang.org/x/sys v0.44.0 // indirect
)

// The command and the library are released together: a release requires the library's own version, without this line.
replace github.com/turncore/turncore => ../../..
