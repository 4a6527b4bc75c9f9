package main

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/wasm/full"
)

const versionHelp = `turncore version

Shows the versions of this program, of the ABI, of Go, and of the module that it carries.
`

func (c *command) version(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "-h", "-help", "--help":
			_, err := fmt.Fprint(c.stdout, versionHelp)
			return err
		}
		return usagef("version", "it takes no arguments")
	}
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	module := "none"
	if bytes, ok := full.Module(); ok {
		module = fmt.Sprintf("%x", sha256.Sum256(bytes))
	}
	_, err := fmt.Fprintf(c.stdout, "turncore %s\nabi %d.%d\ngo %s\nmodule %s\n", version, abi.Major, abi.Minor, runtime.Version(), module)
	return err
}
