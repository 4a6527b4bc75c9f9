module github.com/turncore/turncore

go 1.26.0

toolchain go1.26.8

ignore ./js/node_modules

require (
	github.com/gofrs/flock v0.13.0
	github.com/google/jsonschema-go v0.4.3
	github.com/tetratelabs/wazero v1.12.0
	github.com/tinylib/msgp v1.6.5
	golang.org/x/sys v0.44.0
)

require github.com/philhofer/fwd v1.2.0 // indirect
