package invocation

// A signal ends agents without being a failure of theirs. Signals are compared by identity.
type signal struct{ text string }

func (s *signal) Error() string { return s.text }

var (
	// pause ends the agents around one that waits for an answer from outside.
	pause = &signal{"an agent waits for an answer"}
	// escalated ends the agents inside the innermost loop.
	escalated = &signal{"an agent has escalated"}
	// needless ends an agent that runs beside one that has failed.
	needless = &signal{"an agent beside this one has failed"}
)
