module github.com/turncore/turncore/host/wasmtime

go 1.26.0

toolchain go1.26.8

require (
	github.com/bytecodealliance/wasmtime-go/v39 v39.0.1
	github.com/turncore/turncore v0.0.0
)

require (
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	github.com/tinylib/msgp v1.6.5 // indirect
	golang.org/x/sys v0.44.0 // indirect
)

// The modules are released together: a release requires those of its own version, without this line.
replace github.com/turncore/turncore => ../..
