module github.com/turncore/turncore/wasm/size

go 1.26.0

toolchain go1.26.8

require github.com/andybalholm/brotli v1.2.8
