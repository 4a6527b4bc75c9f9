// Command guest measures the kit as a WebAssembly module. It prints its samples as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/turncore/turncore/host/internal/bench/peers/adk-go/invocation"
)

func main() {
	kit, err := invocation.New()
	var samples []float64
	if err == nil {
		samples, err = kit.Alone(context.Background(), 1000)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(samples)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(1)
	}
}
