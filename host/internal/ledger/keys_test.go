package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/turncore/turncore/host/internal/ledger"
)

// The keys of turns of which nobody hears any more go after a week, unless they may go on.
func TestKeysExpire(t *testing.T) {
	var k ledger.Keys
	day := (24 * time.Hour).Microseconds()
	remember := func(turn string, at int64) {
		k.Remember(ledger.Key{Key: fmt.Sprint(turn, at), Turn: turn, Revision: uint64(at + 1), At: at * day})
	}
	remember("crashed", 0)
	remember("goes on", 0)
	remember("writes", 0)
	remember("crashed", 1)
	remember("writes", 5)
	resume := func(turn string) bool { return turn == "goes on" }
	expect := func(now int64, want ...string) {
		t.Helper()
		k.Expire(now*day, resume)
		var got []string
		for _, key := range k.All {
			got = append(got, key.Key)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("on day %d there are %v, not %v", now, got, want)
		}
	}
	expect(7, "crashed0", "goes on0", "writes0", "crashed1", "writes5")
	expect(8, "goes on0", "writes0", "writes5")
	if !k.Own("writes", 1) || k.Own("crashed", 1) {
		t.Error("it does not know the turn that writes, or one that it has forgotten")
	}
	remember("writes", 11)
	expect(13, "goes on0", "writes0", "writes5", "writes11")
	expect(18, "goes on0")
	resume = func(string) bool { return false }
	expect(30)
}
