module github.com/turncore/turncore/wasm/release

go 1.26.0

toolchain go1.26.8

require (
	github.com/turncore/turncore v0.0.0
	golang.org/x/mod v0.18.0
)

require (
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	github.com/tinylib/msgp v1.6.5 // indirect
	golang.org/x/sys v0.44.0 // indirect
)

replace github.com/turncore/turncore => ../..
