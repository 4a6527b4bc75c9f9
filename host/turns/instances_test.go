package turns_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

// fleet is an engine that knows its instances.
type fleet struct {
	host.Engine
	open func() error // is called before an instance is opened; nil for nothing

	mu   sync.Mutex
	all  []*member
	live int
}

// member is an instance of a fleet.
type member struct {
	host.Instance
	of    *fleet
	ended sync.Once

	mu    sync.Mutex
	seen  map[abi.Op]int // frames, by their kind
	trap  bool           // at the next step
	bytes uint64         // of memory; 0 for the instance's own
}

func (f *fleet) Open(ctx context.Context) (host.Instance, error) {
	if f.open != nil {
		if err := f.open(); err != nil {
			return nil, err
		}
	}
	inst, err := f.Engine.Open(ctx)
	if err != nil {
		return nil, err
	}
	m := &member{Instance: inst, of: f, seen: make(map[abi.Op]int)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all, f.live = append(f.all, m), f.live+1
	return m, nil
}

// members are all instances so far, and how many of them have not ended.
func (f *fleet) members() (all []*member, live int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.all), f.live
}

func (m *member) Step(dst, in []byte) ([]byte, error) {
	m.mu.Lock()
	trap := m.trap
	for rest := in; len(rest) > 0; {
		op, _, more, err := abi.Next(rest, abi.Limits{})
		if err != nil {
			break
		}
		rest = more
		m.seen[op]++
	}
	m.mu.Unlock()
	if trap {
		return dst, m.Retire(errors.New("trap"))
	}
	return m.Instance.Step(dst, in)
}

func (m *member) count(op abi.Op) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen[op]
}

// become changes what the instance does.
func (m *member) become(change func(m *member)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

func (m *member) MemoryBytes() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(m.bytes, m.Instance.MemoryBytes())
}

func (m *member) end() {
	m.ended.Do(func() {
		m.of.mu.Lock()
		defer m.of.mu.Unlock()
		m.of.live--
	})
}

func (m *member) Retire(cause error) error {
	m.end()
	return m.Instance.Retire(cause)
}

func (m *member) Close(ctx context.Context) error {
	m.end()
	return m.Instance.Close(ctx)
}

// crew is a runner whose turns wait at a gate with the name of the turn, on a fleet.
type crew struct {
	*fleet
	t      *testing.T
	host   *turns.Host
	runner *turns.TurnRunner
}

// newCrew makes one of a host's options.
func newCrew(t *testing.T, options turns.HostOptions, change func(*turns.TurnRunnerConfig)) *crew {
	c := &crew{fleet: &fleet{Engine: native.New()}, t: t}
	options.Engine = c.fleet
	c.host = turns.NewHost(options)
	config := turns.TurnRunnerConfig{Callbacks: noStorage(), Host: c.host, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		if _, err := ctx.WaitFor(ctx, approval("gate of "+ctx.TurnID())); err != nil {
			return err
		}
		return ctx.Ack()
	}}
	if change != nil {
		change(&config)
	}
	var err error
	if c.runner, err = turns.NewTurnRunner(config); err != nil {
		t.Fatal(err)
	}
	return c
}

// start starts a turn and returns when it, and all others, wait.
func (c *crew) start(ctx context.Context, id string) (ended chan error) {
	ended = make(chan error, 1)
	go func() {
		_, err := c.runner.Run(ctx, turns.TurnInput{TurnID: id, SystemPrompt: "test"})
		ended <- err
	}()
	synctest.Wait()
	return ended
}

// answer lets a turn go on.
func (c *crew) answer(id string) {
	c.t.Helper()
	gate, ok := c.runner.Gate("gate of " + id)
	if !ok {
		c.t.Fatalf("the gate of %s is not open", id)
	}
	if err := gate.Resolve(true); err != nil {
		c.t.Fatal(err)
	}
}

// has checks how many instances there have been, and how many are alive.
func (c *crew) has(all, live int) []*member {
	c.t.Helper()
	synctest.Wait()
	members, alive := c.members()
	if len(members) != all || alive != live {
		c.t.Fatalf("%d instances, %d alive; want %d and %d", len(members), alive, all, live)
	}
	return members
}

// A turn starts an instance only where it would have to share one, and goes where the fewest are. Gates and listeners
// are the runner's, whichever instance a turn is in.
func TestInstancesShareTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, turns.HostOptions{Instances: 2}, nil)
		defer c.host.Close(context.Background())
		var mu sync.Mutex
		var opened []string
		turns.Listen(c.runner, func(ev *event.TurnGateOpen) {
			mu.Lock()
			defer mu.Unlock()
			opened = append(opened, ev.Gate.TurnID())
		})
		for i := range 3 {
			id := fmt.Sprint("alone ", i)
			ended := c.start(t.Context(), id)
			c.answer(id)
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		}
		c.has(1, 1)
		var ended []chan error
		for i, want := range []int{1, 2, 2, 2} {
			ended = append(ended, c.start(t.Context(), fmt.Sprint("beside ", i)))
			c.has(want, want)
		}
		all := c.has(2, 2)
		if first, second := all[0].count(abi.OpStartTurn), all[1].count(abi.OpStartTurn); first != 5 || second != 2 {
			t.Errorf("%d and %d turns", first, second)
		}
		if n := len(c.runner.Gates()); n != 4 {
			t.Errorf("%d open gates", n)
		}
		for i := range ended {
			c.answer(fmt.Sprint("beside ", i))
			if err := <-ended[i]; err != nil {
				t.Error(err)
			}
		}
		if got := strings.Join(opened, ", "); got != "alone 0, alone 1, alone 2, beside 0, beside 1, beside 2, beside 3" {
			t.Errorf("the listener heard of %s", got)
		}
	})
}

// Each instance is told of a history when its first turn uses it, once, and told to forget a runner that is closed.
func TestInstancesAreToldOfHistories(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		history, err := turns.NewHistory(message("a", "x"), message("b", "y"))
		if err != nil {
			t.Fatal(err)
		}
		c := newCrew(t, turns.HostOptions{Instances: 2, Verify: true}, func(config *turns.TurnRunnerConfig) {
			config.TurnInputPipeline = []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				defer next()
				return ctx.TurnMessages().AddAll(history)
			}}
		})
		defer c.host.Close(context.Background())
		var ended []chan error
		for i := range 4 {
			ended = append(ended, c.start(t.Context(), fmt.Sprint(i)))
		}
		for i := range ended {
			c.answer(fmt.Sprint(i))
			if err := <-ended[i]; err != nil {
				t.Error(err)
			}
		}
		if err := c.runner.Close(); err != nil {
			t.Error(err)
		}
		for i, m := range c.has(2, 2) {
			for _, op := range []abi.Op{abi.OpHistory, abi.OpOpenRunner, abi.OpCloseRunner} {
				if n := m.count(op); n != 1 {
					t.Errorf("instance %d: %d frames of kind %d", i, n, op)
				}
			}
		}
	})
}

// With an instance per turn, turns share nothing, and an instance ends with its turn.
func TestInstancePerTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, turns.HostOptions{Instances: turns.PerTurn}, nil)
		defer c.host.Close(context.Background())
		if err := c.host.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.has(1, 1)
		first := c.start(t.Context(), "first") // takes the instance that was loaded
		c.has(1, 1)
		second := c.start(t.Context(), "second")
		all := c.has(2, 2)
		c.answer("first")
		if err := <-first; err != nil {
			t.Error(err)
		}
		c.has(2, 1)
		if _, err := named("t").ValidateArgs(t.Context(), c.host, map[string]any{}); err != nil {
			t.Error(err)
		}
		c.has(3, 2) // a spare one for the turn that comes
		third := c.start(t.Context(), "third")
		c.has(3, 2)
		all[1].become(func(m *member) { m.trap = true })
		gate, _ := c.runner.Gate("gate of second")
		if err := gate.Resolve(true); !errors.Is(err, host.CodeInstanceFailed) {
			t.Errorf("%v", err)
		}
		if err := <-second; !errors.Is(err, host.CodeInstanceFailed) {
			t.Errorf("%v", err)
		}
		c.answer("third")
		if err := <-third; err != nil {
			t.Error(err)
		}
		c.has(3, 0)
	})
}

// A trap ends the turns of its instance, and those alone. When every instance has died, the next turn gets a fresh one.
func TestInstancesThatDie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, turns.HostOptions{Instances: 2}, nil)
		defer c.host.Close(context.Background())
		ended := []chan error{c.start(t.Context(), "0"), c.start(t.Context(), "1")}
		all := c.has(2, 2)
		die := func(i int) {
			all[i].become(func(m *member) { m.trap = true })
			gate, _ := c.runner.Gate(fmt.Sprint("gate of ", i))
			_ = gate.Resolve(true) // it dies of it
			if err := <-ended[i]; !errors.Is(err, host.CodeInstanceFailed) {
				t.Errorf("turn %d: %v", i, err)
			}
		}
		die(0)
		c.has(2, 1)
		if n := len(c.runner.Gates()); n != 1 {
			t.Errorf("%d open gates", n)
		}
		die(1)
		c.has(2, 0)
		again := c.start(t.Context(), "again")
		c.has(3, 1)
		c.answer("again")
		if err := <-again; err != nil {
			t.Error(err)
		}
	})
}

// An instance ends with its last turn when its memory has grown or it has grown old; meanwhile another takes its place.
func TestInstancesAreReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		options turns.HostOptions
		wear    func(m *member)
	}{
		"memory": {turns.HostOptions{Instances: 2, HighWater: 1000}, func(m *member) { m.become(func(m *member) { m.bytes = 1001 }) }},
		"age":    {turns.HostOptions{Instances: 2, MaxAge: time.Hour}, func(*member) { time.Sleep(time.Hour + 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				crew := newCrew(t, c.options, nil)
				defer crew.host.Close(context.Background())
				old := crew.start(t.Context(), "old")
				c.wear(crew.has(1, 1)[0])
				fresh := crew.start(t.Context(), "fresh")
				crew.has(2, 2)
				crew.answer("old")
				if err := <-old; err != nil {
					t.Error(err)
				}
				crew.has(2, 1)
				crew.answer("fresh")
				if err := <-fresh; err != nil {
					t.Error(err)
				}
				crew.has(2, 1)
			})
		})
	}
}

// An instance that cannot start fails a turn only if there is no other one that takes it.
func TestInstancesThatDoNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, turns.HostOptions{Instances: 2}, nil)
		defer c.host.Close(context.Background())
		broken := errors.New("no memory is left")
		c.fleet.open = func() error { return broken }
		if err := <-c.start(t.Context(), "without"); !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
		c.fleet.open = nil
		first := c.start(t.Context(), "first")
		c.fleet.open = func() error { return broken }
		second := c.start(t.Context(), "second")
		c.has(1, 1)
		c.answer("first")
		c.answer("second")
		if err := errors.Join(<-first, <-second); err != nil {
			t.Error(err)
		}
	})
}

// While an instance starts, a turn may be cancelled and the host closed; nothing is left of it.
func TestWhileAnInstanceStarts(t *testing.T) {
	for _, instances := range []int{1, 2, turns.PerTurn} {
		t.Run(fmt.Sprint(instances), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrew(t, turns.HostOptions{Instances: instances}, nil)
				start := make(chan struct{})
				c.fleet.open = func() error { <-start; return nil }
				ctx, cancel := context.WithCancel(t.Context())
				ended := []chan error{c.start(ctx, "cancelled"), c.start(t.Context(), "other"), c.start(t.Context(), "third")}
				cancel()
				close(start)
				if err := <-ended[0]; !errors.Is(err, context.Canceled) {
					t.Errorf("%v", err)
				}
				synctest.Wait()
				c.answer("other")
				c.answer("third")
				if err := errors.Join(<-ended[1], <-ended[2]); err != nil {
					t.Error(err)
				}
				start = make(chan struct{})
				if instances != turns.PerTurn {
					all, _ := c.members()
					for _, m := range all {
						m.become(func(m *member) { m.trap = true })
					}
					for range all {
						if err := <-c.start(t.Context(), "last"); !errors.Is(err, host.CodeInstanceFailed) {
							t.Errorf("%v", err)
						}
					}
				}
				late := c.start(t.Context(), "late")
				closed := make(chan error, 1)
				go func() { closed <- c.host.Close(context.Background()) }()
				synctest.Wait()
				close(start)
				if err := <-late; !errors.Is(err, turns.ErrClosed) {
					t.Errorf("%v", err)
				}
				if err := <-closed; err != nil {
					t.Error(err)
				}
				if _, live := c.members(); live != 0 {
					t.Errorf("%d instances are alive", live)
				}
			})
		})
	}
}

// Shutdown in the middle of everything: turns that wait, begin and end, instances that die and are replaced. All turns
// end, no instance and no goroutine is left.
func TestShutdownOfManyInstances(t *testing.T) {
	for _, instances := range []int{1, 4, turns.PerTurn} {
		t.Run(fmt.Sprint(instances), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrew(t, turns.HostOptions{Instances: instances, MaxAge: 10 * time.Millisecond}, nil)
				var running sync.WaitGroup
				const count = 60
				errs := make([]error, count)
				for i := range count {
					running.Go(func() {
						time.Sleep(time.Duration(i) * time.Millisecond)
						id := fmt.Sprint(i)
						running.Go(func() {
							time.Sleep(20 * time.Millisecond)
							if i%9 == 0 {
								all, _ := c.members()
								all[len(all)-1].become(func(m *member) { m.trap = true })
							}
							if gate, ok := c.runner.Gate("gate of " + id); ok && i%3 != 0 {
								_ = gate.Resolve(true) // its instance may have died
							}
						})
						_, errs[i] = c.runner.Run(context.Background(), turns.TurnInput{TurnID: id, SystemPrompt: "test"})
					})
				}
				time.Sleep(45 * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				if err := c.host.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v", err)
				}
				running.Wait()
				acked := 0
				for i, err := range errs {
					switch {
					case err == nil:
						acked++
					case !errors.Is(err, host.CodeInstanceFailed) && !errors.Is(err, turns.ErrClosed):
						t.Errorf("turn %d: %v", i, err)
					}
				}
				if acked == 0 || acked == count {
					t.Errorf("%d turns acked", acked)
				}
				if _, live := c.members(); live != 0 {
					t.Errorf("%d instances are alive", live)
				}
			})
		})
	}
}

func TestBadHostOptions(t *testing.T) {
	for want, o := range map[string]turns.HostOptions{
		"turns: HostOptions.Instances is -2": {Instances: -2}, "turns: HostOptions.MaxAge is -1s": {MaxAge: -time.Second},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != want {
					t.Error(got)
				}
			}()
			turns.NewHost(o)
		}()
	}
}

// What keeps a turn from starting names the option.
func TestErrorsNameHostOptions(t *testing.T) {
	for field, o := range map[string]turns.HostOptions{
		"limits.frame": {Limits: abi.Limits{Frame: 1024}}, "limits.string": {Limits: abi.Limits{String: 1}},
		"limits.array": {Limits: abi.Limits{Array: 1}}, "limits.depth": {Limits: abi.Limits{Depth: 1}},
		"clock": {Clock: func() int64 { return 1 << 60 }},
	} {
		o.Engine = native.New()
		r, err := turns.New(t.Context(), turns.Config{Host: turns.NewHost(o), Executor: acks})
		if err == nil {
			_, err = r.Run(t.Context(), turns.Input{Message: "Hi!"})
		}
		var e *host.Error
		if !errors.As(err, &e) || e.Code != host.CodeInvalidValue || e.Details.(map[string]any)["field"] != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	// The least limits, and times at the edge.
	for _, now := range []int64{0, -abi.MaxInt, abi.MaxInt} {
		limits := abi.Limits{Frame: 2048, String: 1024, Array: 24, Depth: 8, TurnEffects: 1, InstanceEffects: 1}
		h := turns.NewHost(turns.HostOptions{Engine: native.New(), Limits: limits, Clock: host.FixedClock(now)})
		r, err := turns.New(t.Context(), turns.Config{Host: h, Executor: acks})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := r.Run(t.Context(), turns.Input{Message: "Hi!"}); err != nil {
			t.Errorf("%+v, %v", result, err)
		}
	}
}
