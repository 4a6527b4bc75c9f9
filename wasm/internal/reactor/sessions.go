//go:build (wasip1 || js) && full && !turnsonly

package reactor

import "github.com/turncore/turncore/internal/guest"

func init() { fronts = (*guest.Instance).ServeSessions }
