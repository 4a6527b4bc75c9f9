package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

var errFault = errors.New("storetest: a fault")

// fault is what happens to a call of a store.
type fault uint8

const (
	faultBefore fault = iota // it fails and does nothing
	faultAfter               // it does its work, and its answer is lost
	faultTwice               // it is done twice, as by a network that repeats it
	killBefore               // the process ends before it; nothing is asked for behind it
	killAfter                // the process ends after it
	faults
)

var faultNames = [faults]string{"fails", "does not answer", "comes twice", "is not reached", "is the last"}

// faulty is a store one of whose calls meets a fault.
type faulty struct {
	store.Store
	what fault
	nth  int // call, from 1; 0 for none

	mu      sync.Mutex
	calls   int
	met     bool           // a call has met it
	commits []store.Commit // that were asked for
	stored  int            // how many of them the store has
}

// meet does a call. A fault may keep it from being done, or from being answered.
func (f *faulty) meet(do func() error) error {
	f.mu.Lock()
	f.calls++
	dead := f.met && (f.what == killBefore || f.what == killAfter)
	meets := f.calls == f.nth && !dead
	f.mu.Unlock() // a call may read what comes through another one
	if meets {
		defer func() {
			f.mu.Lock()
			f.met = true
			f.mu.Unlock()
		}()
	}
	switch {
	case dead:
		return errFault
	case !meets:
		return do()
	case f.what == faultAfter || f.what == killAfter:
		return errors.Join(do(), errFault)
	case f.what == faultTwice:
		return errors.Join(do(), do())
	}
	return errFault
}

// mend ends the fault, and puts another store behind it: what was written through it may be read through it.
func (f *faulty) mend(s store.Store) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nth, f.met, f.Store = 0, false, s
}

func (f *faulty) Load(ctx context.Context, session, after string) (c *store.Conversation, err error) {
	err = f.meet(func() (err error) {
		c, err = f.Store.Load(ctx, session, after)
		return err
	})
	return c, err
}

func (f *faulty) Commit(ctx context.Context, session string, c store.Commit) (revision string, err error) {
	f.mu.Lock()
	if !f.met || f.what < killBefore {
		f.commits = append(f.commits, c)
	}
	f.mu.Unlock()
	err = f.meet(func() (err error) {
		if revision, err = f.Store.Commit(ctx, session, c); err == nil {
			f.mu.Lock()
			f.stored++
			f.mu.Unlock()
		}
		return err
	})
	return revision, err
}

func (f *faulty) PutBytes(ctx context.Context, session, id string, content io.Reader) error {
	data, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	return f.meet(func() error { return f.Store.PutBytes(ctx, session, id, bytes.NewReader(data)) })
}

func (f *faulty) OpenBytes(ctx context.Context, session, id string) (content io.ReaderAt, size int64, err error) {
	err = f.meet(func() (err error) {
		content, size, err = f.Store.OpenBytes(ctx, session, id)
		return err
	})
	return content, size, err
}

// play runs a conversation in a session. Turns that fail are passed over.
func (p *place) play(s store.Store, session string) {
	p.Helper()
	r, err := conversation(p.Context(), s)
	if err != nil {
		p.Fatal(err)
	}
	for turn := range turnsOf {
		_, _ = r.Run(p.Context(), turns.Input{Message: "Hi!", TurnID: fmt.Sprint(turn), Session: session}) // what is stored tells how it went
	}
	if err := r.Close(); err != nil {
		p.Error(err)
	}
}

func faultCases() []testCase {
	var all []testCase
	for what := range faults {
		all = append(all, testCase{name: "each call of a conversation " + faultNames[what], run: func(p *place) { p.faults(what) }})
	}
	return all
}

// faults plays a conversation once for each of its calls, which meets a fault, and looks at what the store then has.
func (p *place) faults(what fault) {
	s := p.store()
	undisturbed := &faulty{Store: s}
	p.play(undisturbed, session)
	want, err := steps(p.Context(), p.load(s, session, ""))
	if err != nil || !slices.Equal(want, allSteps()) {
		p.Fatalf("undisturbed: %q, %v", want, err)
	}
	for nth := 1; nth <= undisturbed.calls; nth++ {
		id := fmt.Sprint("fault ", nth)
		f := &faulty{Store: s, what: what, nth: nth}
		p.play(f, id)
		s = p.again(s)
		f.mend(s)
		got, err := steps(p.Context(), p.load(s, id, ""))
		if err != nil {
			p.Errorf("call %d %s: %v", nth, faultNames[what], err)
			continue
		}
		// A commit that is asked for again is done once.
		for _, c := range f.commits[max(len(f.commits)-1, 0):] {
			if _, err := s.Commit(p.Context(), id, c); err != nil {
				p.Errorf("call %d %s: the last commit, again: %v", nth, faultNames[what], err)
			}
		}
		after, err := steps(p.Context(), p.load(s, id, ""))
		if err != nil {
			p.Errorf("call %d %s, and the last commit again: %v", nth, faultNames[what], err)
		}
		if err := lost(what, want, got, after, len(f.commits)-f.stored); err != nil {
			p.Errorf("call %d %s: %v", nth, faultNames[what], err)
		}
	}
}

// lost says what is wrong with the steps that were stored, and those that are there after the last commit was asked for
// again; want has all of them. missed is how many of the commits that were asked for were not done.
func lost(what fault, want, got, after []string, missed int) error {
	switch what {
	case faultTwice:
		if !slices.Equal(got, want) {
			return fmt.Errorf("%q were stored, want %q", got, want)
		}
	case killBefore, killAfter:
		if !slices.Equal(after, want[:min(len(after), len(want))]) || !slices.Equal(got, after[:min(len(got), len(after))]) {
			return fmt.Errorf("%q were stored, and then %q, which is not the beginning of %q", got, after, want)
		}
		if more := len(after) - len(got); more > missed || missed > 1 {
			return fmt.Errorf("%q were stored, and then %q", got, after)
		}
	default:
		whole := 0
		for turn := range turnsOf {
			n := len(want) / turnsOf
			if rest := slices.DeleteFunc(slices.Clone(want[turn*n:(turn+1)*n]), func(s string) bool { return slices.Contains(got, s) }); len(rest) == 0 {
				whole++
			}
		}
		if whole < turnsOf-1 {
			return fmt.Errorf("%q were stored: other turns than the one of the fault are incomplete", got)
		}
	}
	return nil
}

var _ store.Store = (*faulty)(nil)
