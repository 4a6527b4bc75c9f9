module github.com/turncore/turncore/wasm/release

go 1.26.0

toolchain go1.26.8

require (
	github.com/turncore/turncore v0.0.0
	golang.org/x/mod v0.18.0
)

replace github.com/turncore/turncore => ../..
