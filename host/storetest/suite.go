package storetest

import (
	"testing"

	"github.com/turncore/turncore/host/internal/methods"
	"github.com/turncore/turncore/host/store"
)

// Suite is what the tests need of a store.
type Suite struct {
	// Place makes a place that holds no session, for one test, and returns what opens the store there. The test's
	// TempDir and Cleanup may see to it that nothing is left.
	Place func(t *testing.T) Opener
	// Exclusive says that the store may be open only once at a time. Otherwise the tests open it several times, as
	// processes would that share it.
	Exclusive bool
}

// Opener opens the store at a place, with all that was stored there before. The suite closes the stores that have a
// Close method. An Opener of what lives in memory may return the same store each time.
type Opener func() (store.Store, error)

// Test runs the suite: of the tests of store.Appender and store.Journal those of the parts that the store has. It logs
// which it lacks, and how many tests have passed.
func Test(t *testing.T, s Suite) {
	if s.Place == nil {
		t.Fatal("storetest: a Suite needs a Place")
	}
	passed := 0
	has := s.parts(t)
	for _, c := range cases() {
		if c.needs&^has != 0 {
			continue
		}
		if t.Run(c.name, func(t *testing.T) { c.run(s.place(t)) }) {
			passed++
		}
	}
	t.Logf("store: %d passed", passed)
}

// testCase is one test of a store.
type testCase struct {
	name  string
	run   func(p *place)
	needs part // tests of other stores are not run
}

// part are parts that a store may lack.
type part uint8

const (
	partAppender part = 1 << iota
	partJournal
)

// parts are those that the store has.
func (s *Suite) parts(t *testing.T) (has part) {
	p := s.place(t)
	of := p.store()
	if of == nil {
		t.Fatal("storetest: the Opener returned neither a store nor an error")
	}
	if lacks := methods.Lacking[store.Appender](of); lacks == "" {
		has |= partAppender
	} else {
		t.Logf("it is no store.Appender: %s", lacks)
	}
	if lacks := methods.Lacking[store.Journal](of); lacks == "" {
		has |= partJournal
	} else {
		t.Logf("it is no store.Journal: %s", lacks)
	}
	if err := closed(of); err != nil {
		t.Fatalf("closing the store: %v", err)
	}
	return has
}

func cases() []testCase {
	var all []testCase
	for _, topic := range [][]testCase{
		loadCases(), writeCases(), keyCases(), conflictCases(), bytesCases(), idCases(), sessionCases(), scaleCases(), turnCases(), faultCases(),
		appendCases(), journalCases(), importCases(),
	} {
		all = append(all, topic...)
	}
	return all
}
