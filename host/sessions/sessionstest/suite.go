package sessionstest

import (
	"testing"

	"github.com/turncore/turncore/host/internal/methods"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/storetest"
)

// Test runs the suite on a store, which must be a [sessions.Store]. It logs how many tests have passed.
func Test(t *testing.T, s storetest.Suite) {
	if s.Place == nil {
		t.Fatal("sessionstest: a Suite needs a Place")
	}
	first, err := s.Place(t)()
	if err != nil {
		t.Fatalf("opening the store: %v", err)
	}
	if lacks := methods.Lacking[sessions.Store](first); lacks != "" {
		t.Fatalf("sessionstest: a %T is no sessions.Store: %s", first, lacks)
	}
	if err := closed(first); err != nil {
		t.Fatalf("closing the store: %v", err)
	}
	passed := 0
	for _, c := range cases() {
		if t.Run(c.name, func(t *testing.T) { c.run(enter(t, s)) }) {
			passed++
		}
	}
	t.Logf("store: %d passed", passed)
}

// testCase is one test.
type testCase struct {
	name string
	run  func(p *place)
}

func cases() []testCase {
	var all []testCase
	for _, topic := range [][]testCase{
		lifeCases(), listCases(), recentCases(), appendCases(), stateCases(), artifactCases(), forkCases(), runCases(), faultCases(),
	} {
		all = append(all, topic...)
	}
	return all
}

// enter makes a place for a test.
func enter(t *testing.T, s storetest.Suite) *place {
	t.Helper()
	p := &place{T: t, open: s.Place(t), exclusive: s.Exclusive}
	p.watched = &watched{Store: p.openStore()}
	p.all = p.service(app)
	return p
}

// openStore opens the store at the place.
func (p *place) openStore() sessions.Store {
	p.Helper()
	opened, err := p.open()
	if err != nil {
		p.Fatalf("opening the store: %v", err)
	}
	p.Cleanup(func() { _ = closed(opened) }) // it may be closed already
	s, ok := opened.(sessions.Store)
	if !ok {
		p.Fatalf("a %T is no sessions.Store", opened)
	}
	return s
}
