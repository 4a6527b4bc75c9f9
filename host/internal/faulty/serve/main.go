// Serve runs the faulty provider for tests in other languages. It writes its address to standard output, as a line, and
// ends with its standard input.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/turncore/turncore/host/internal/faulty"
)

func main() {
	server, err := faulty.Serve()
	if err == nil {
		fmt.Println(server.URL)
		_, err = io.Copy(io.Discard, os.Stdin)
		_ = server.Close() // nobody is left to be told
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
