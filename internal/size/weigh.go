package size

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// A Weight is the size of a file in bytes.
type Weight struct {
	Raw    int `json:"raw"`    // as it is
	Gzip   int `json:"gzip"`   // as a web server sends it, level 9
	Brotli int `json:"brotli"` // likewise, level 11
}

// Weigh returns what files weigh, as Node's compressors have it. That takes seconds: build/weights of the project's
// folder keeps what was found out.
func Weigh(ctx context.Context, root string, files ...string) ([]Weight, error) {
	args := []string{filepath.Join(root, "internal", "size", "weigh.mjs"), filepath.Join(root, "build", "weights")}
	cmd := exec.CommandContext(ctx, "node", append(args, files...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("weigh the files: %w", err)
	}
	weights := make([]Weight, len(files))
	lines := json.NewDecoder(bytes.NewReader(out))
	for i, file := range files {
		if err := lines.Decode(&weights[i]); err != nil {
			return nil, fmt.Errorf("weigh %s: %w", filepath.Base(file), err)
		}
	}
	return weights, nil
}
