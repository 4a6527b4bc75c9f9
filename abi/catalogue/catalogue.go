// Package catalogue describes the tools whose handlers are compiled into the module, as models see them.
package catalogue

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed tools.json
var text []byte

// Entry describes a tool of the catalogue.
type Entry struct {
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// Tools by their names, which are also those of their handlers.
var Tools = func() (tools map[string]Entry) {
	if err := json.Unmarshal(text, &tools); err != nil {
		panic(fmt.Sprint("catalogue: ", err))
	}
	return tools
}()
