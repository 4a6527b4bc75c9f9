package runtime

// Config is the core's part of a runner's configuration. Many turns share one.
type Config struct {
	Executor Executor // nil: the host's function
	Tools    []*Tool  // baseline, in order

	TurnInput, TurnOutput, DispatchInput, DispatchOutput []Middleware

	OnDiscard bool // the host has a discardCallback
	Queue     int  // most writes that an iteration queues; 0 for MaxQueue

	Encodings []string // token encodings for which the host has a tokenizer
	Frame     int      // most bytes of a frame; 0 for 16 MiB
	Array     int      // most elements of an array in a frame; 0 for 8,192

	base    *Registry
	baseErr error
}

// registry returns the registry that a turn begins with; E_TOOL_ALREADY_REGISTERED when two tools share a name.
func (c *Config) registry() (*Registry, error) {
	if c.base == nil && c.baseErr == nil {
		base := &Registry{}
		for _, tool := range c.Tools {
			if c.baseErr = base.Register(tool, false); c.baseErr != nil {
				return nil, c.baseErr
			}
			if tool.Hidden {
				base.hidden = append(base.hidden, tool.Name)
			}
		}
		c.base = base
	}
	if c.baseErr != nil {
		return nil, c.baseErr
	}
	return c.base.snapshot(), nil
}
