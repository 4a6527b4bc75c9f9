// Command build compiles the modules and says what they weigh: the core module
// for its two kinds of host, and the full one, which knows all providers.
//
//	go run ./wasm/build            write the files to wasm/core and wasm/full and print their sizes
//	go run ./wasm/build -sizes=0   write them only
//	go run ./wasm/build -o DIR     write them somewhere else
//	go run ./wasm/build -plain     write modules that start in the host, not in the build
//	go run ./wasm/build -linked    write what Go's linker makes, in segments and instructions
//	go run ./wasm/build -counted -o DIR
//	                               write a full module that counts its instructions, for js/bench/instructions.mjs
//
// The bytes depend on the sources and on the Go release that go.mod pins, and
// on nothing else: not on the folder, the machine or the user.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/turncore/turncore/internal/shape"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	out := flags.String("o", "", "folder to write to (default wasm/core and wasm/full of this module)")
	sizes := flags.Int("sizes", 12, "print sizes, and this many packages that pay most; 0 prints nothing")
	plain := flags.Bool("plain", false, "do not bake: instances initialise themselves")
	linked := flags.Bool("linked", false, "do not rewrite what Go's linker has made")
	counted := flags.Bool("counted", false, "write a full module that counts the instructions it executes; needs -o")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *counted && *out == "" {
		return errors.New("-counted needs -o: hosts take what is in the folders of this module")
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	place := func(t target) string {
		if *out != "" {
			return filepath.Join(*out, t.file)
		}
		return filepath.Join(root, "wasm", t.folder, t.file)
	}
	f := form{Shape: shape.Shape{Rewrite: !*linked, Bake: !*plain}}
	if *counted {
		f.named, f.counted = true, true
		return compile(ctx, root, fullTarget, place(fullTarget), f)
	}
	if err := compileAll(ctx, root, place, f); err != nil {
		return err
	}
	if *sizes == 0 {
		return nil
	}
	return printSizes(ctx, os.Stdout, root, place, *sizes)
}
