package conformance

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// operation does one step. A step with try shows its result.
type operation func(f *frame, arg any) (any, error)

// operations are the operations of steps, by name. They are set at program start, because some of them run steps.
var operations map[string]operation

func init() {
	operations = map[string]operation{
		"say": func(f *frame, arg any) (any, error) {
			f.game.write(Line{"by": f.by, "said": str(arg)})
			return nil, nil
		},
		"see": func(f *frame, arg any) (any, error) {
			seen := map[string]any{}
			for _, what := range strs(arg) {
				seen[what] = f.see(what)
			}
			f.game.write(Line{"by": f.by, "saw": seen})
			return nil, nil
		},
		"do":         func(f *frame, arg any) (any, error) { return nil, f.do(scriptOf(arg)) },
		"throw":      func(f *frame, arg any) (any, error) { return nil, f.game.error(str(arg)) },
		"refuse":     func(_ *frame, arg any) (any, error) { return nil, refusalError(str(arg)) },
		"return":     func(f *frame, arg any) (any, error) { f.result = arg; return nil, errReturned },
		"returnPart": func(f *frame, arg any) (any, error) { f.result = f.game.part(arg); return nil, errReturned },
		"next": func(f *frame, arg any) (any, error) {
			if f.inner != nil {
				return f.inner(arg)
			}
			if f.next == nil {
				panic(malformed("%s has no next", f.by))
			}
			f.next()
			return nil, nil
		},
		"answer": func(f *frame, arg any) (any, error) {
			if f.answer == nil {
				panic(malformed("%s wraps no model", f.by))
			}
			return nil, f.answer(arg)
		},

		"startNext": func(*frame, any) (any, error) { panic(malformed("startNext needs dynamic")) },
		"thenable":  func(*frame, any) (any, error) { panic(malformed("thenable needs dynamic")) },

		"ack":  func(f *frame, _ any) (any, error) { return nil, f.inDispatch().Ack() },
		"nack": func(f *frame, arg any) (any, error) { return nil, f.inDispatch().Nack(f.game.maybe(arg)) },
		"abort": func(f *frame, arg any) (any, error) {
			f.inTurn().Abort(f.game.maybe(arg))
			return nil, nil
		},
		"abortRun": func(f *frame, _ any) (any, error) {
			f.game.mu.Lock()
			abort := f.game.values["abort"].(context.CancelFunc)
			f.game.mu.Unlock()
			abort()
			<-f.inTurn().Done()
			return nil, nil
		},
		"onAck": func(f *frame, arg any) (any, error) {
			a := fieldsOf(arg)
			name, script := a.str("name", ""), scriptOf(a.any("do"))
			a.end()
			cancel := f.inDispatch().OnAck(func() {
				inner := *f
				inner.by = name
				if err := inner.run(script); err != nil {
					panic(err)
				}
			})
			f.game.keepValue("onAck "+name, cancel)
			return nil, nil
		},
		"offAck": func(f *frame, arg any) (any, error) {
			f.game.value("onAck " + str(arg)).(func())()
			return nil, nil
		},

		"keep": func(f *frame, arg any) (any, error) {
			kept := *f
			f.game.mu.Lock()
			defer f.game.mu.Unlock()
			f.game.kept[str(arg)] = &kept
			return nil, nil
		},
		"with": func(f *frame, arg any) (any, error) {
			a := fieldsOf(arg)
			name, script := a.str("name", ""), scriptOf(a.any("do"))
			a.end()
			inner := *f.game.keptFrame(name)
			inner.by = join(f.by, "with", name)
			return nil, inner.do(script)
		},

		"store": func(f *frame, arg any) (any, error) {
			r := f.game.record(arg)
			return nil, holding(r).store(f.inTurn(), r)
		},
		"mutate": mutate,
		"delete": func(f *frame, arg any) (any, error) {
			kind, id := only(arg)
			return nil, ofKind(kind).delete(f.inTurn(), str(id))
		},
		"commit":      func(f *frame, _ any) (any, error) { return nil, f.inDispatch().Commit() },
		"startCommit": startCommit,
		"startStore":  startStore,
		"pause":       func(*frame, any) (any, error) { time.Sleep(hangs); return nil, nil },
		"replaceGroup": func(f *frame, arg any) (any, error) {
			a := fieldsOf(arg)
			defer a.end()
			return nil, f.inTurn().ReplaceToolCallGroup(strs(a.any("ids")), recordsOf[*record.ToolCall](f.game, a.any("with")))
		},
		"storeBytes": storeBytes,
		"fetch":      func(f *frame, arg any) (any, error) { return f.fetch(str(arg), false) },
		"load":       func(f *frame, arg any) (any, error) { return f.fetch(str(arg), true) },
		"add": func(f *frame, arg any) (any, error) {
			r := f.game.record(arg)
			return nil, holding(r).add(f.inTurn(), r)
		},
		"addHistory": addHistory,
		"remove": func(f *frame, arg any) (any, error) {
			r := f.game.record(arg)
			return holding(r).remove(f.inTurn(), r), nil
		},
		"clear": func(f *frame, arg any) (any, error) { named(str(arg)).clear(f.inTurn()); return nil, nil },

		"report": report,
		"log":    writeLog,
		"stats": func(f *frame, arg any) (any, error) {
			var stats model.Stats
			decode(arg, &stats)
			return nil, f.helper().ReportGenerationStats(stats)
		},
		"emit": func(f *frame, arg any) (any, error) {
			a := fieldsOf(arg)
			defer a.end()
			delta, complete, interrupted := a.str("delta", ""), a.truth("complete"), a.truth("interrupted")
			if id, there := a.take("thought"); there {
				if interrupted {
					return nil, f.inTurn().EmitInterruptedThought(str(id), delta)
				}
				return nil, f.inTurn().EmitThought(str(id), delta, complete)
			}
			if interrupted {
				return nil, f.inTurn().EmitInterruptedMessage(a.str("message", ""), delta)
			}
			return nil, f.inTurn().EmitMessage(a.str("message", ""), delta, complete)
		},

		"stashSet": func(f *frame, arg any) (any, error) {
			pair := list(arg)
			return nil, f.inTurn().Stash().Set(str(pair[0]), pair[1])
		},
		"stashDelete": func(f *frame, arg any) (any, error) { f.inTurn().Stash().Delete(str(arg)); return nil, nil },

		"register": func(f *frame, arg any) (any, error) {
			return nil, f.inTurn().Tools().Register(f.game.tool(str(arg)), false)
		},
		"overwrite": func(f *frame, arg any) (any, error) {
			return nil, f.inTurn().Tools().Register(f.game.tool(str(arg)), true)
		},
		"unregister":     func(f *frame, arg any) (any, error) { return f.inTurn().Tools().Unregister(str(arg)), nil },
		"hide":           func(f *frame, arg any) (any, error) { f.inTurn().Tools().Hide(strs(arg)...); return nil, nil },
		"unhide":         func(f *frame, arg any) (any, error) { f.inTurn().Tools().Unhide(strs(arg)...); return nil, nil },
		"setHidden":      func(f *frame, arg any) (any, error) { f.inTurn().Tools().SetHidden(strs(arg)...); return nil, nil },
		"pruneEphemeral": func(f *frame, _ any) (any, error) { f.inTurn().Tools().PruneEphemeral(); return nil, nil },
		"bindTools": func(f *frame, arg any) (any, error) {
			tools := f.game.keptFrame(str(arg)).inTurn().Tools()
			f.game.keepValue("bind", tools.BindContext(f.inDispatch()))
			return nil, nil
		},
		"unbindTools": func(f *frame, _ any) (any, error) { f.game.value("bind").(func())(); return nil, nil },
		"mergeTools": func(f *frame, arg any) (any, error) {
			a := fieldsOf(arg)
			defer a.end()
			policy := map[string]turns.Collision{"throw": turns.CollisionThrow, "replace": turns.CollisionReplace, "keep": turns.CollisionKeep}[a.str("policy", "throw")]
			var lists [][]*turns.Tool
			for _, names := range list(a.any("lists")) {
				lists = append(lists, f.game.toolList(strs(names)))
			}
			tools, err := turns.MergeTools(policy, lists...)
			if err != nil {
				return nil, err
			}
			all := []any{}
			for _, t := range tools {
				all = append(all, t.Name+": "+t.Description)
			}
			return all, nil
		},
		"execute": func(f *frame, arg any) (any, error) {
			a := fieldsOf(arg)
			defer a.end()
			var tool *turns.Tool
			if name, there := a.take("named"); there {
				tool = f.inTurn().Tools().Get(str(name))
			} else {
				tool = f.game.tool(a.str("tool", ""))
			}
			if tool == nil {
				panic(malformed("there is no such tool: %v", a.of))
			}
			return tool.Executor(f.inDispatch())(a.any("args"))
		},
		"read":      func(f *frame, arg any) (any, error) { return f.read(arg) },
		"readMedia": func(f *frame, arg any) (any, error) { return f.game.readMedia(arg) },
		"make":      func(f *frame, arg any) (any, error) { return f.game.make(arg) },
		"print":     func(f *frame, arg any) (any, error) { return f.game.error(str(arg)).Error(), nil },
		"estimate":  estimate, "render": render, "setText": setText,
		"run":  run,
		"hang": hang,
		"abortSoon": func(f *frame, _ any) (any, error) {
			f.game.abortSoon()
			return nil, nil
		},
		"waitFor": waitFor, "resolve": resolve, "reject": reject, "abortGate": abortGate, "reopen": reopen,
		"advance": func(f *frame, arg any) (any, error) {
			f.game.player.offset.Add(int64(arg.(float64)))
			return nil, nil
		},
		"dispatch": dispatch,
		"listen":   listen,
		"unlisten": func(f *frame, arg any) (any, error) {
			f.game.value("listen " + str(arg)).(func())()
			return nil, nil
		},
	}
}

// refusalError is the error of a tool's own validation for rejected arguments.
type refusalError string

func (e refusalError) Error() string { return string(e) }

// maybe returns the error that an argument names, nil if it is true or absent.
func (g *game) maybe(arg any) error {
	if name, ok := arg.(string); ok {
		return g.error(name)
	}
	return nil
}

func (g *game) keepValue(name string, v any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.values[name] = v
}

func (g *game) keptFrame(name string) *frame {
	g.mu.Lock()
	defer g.mu.Unlock()
	kept := g.kept[name]
	if kept == nil {
		panic(malformed("nothing was kept as %q", name))
	}
	return kept
}

func (g *game) value(name string) any {
	g.mu.Lock()
	defer g.mu.Unlock()
	v, there := g.values[name]
	if !there {
		panic(malformed("there is no %s", name))
	}
	return v
}

func mutate(f *frame, arg any) (any, error) {
	if m, ok := arg.(map[string]any); ok && m["old"] != nil {
		return nil, f.inTurn().MutateStandingInstruction(str(m["old"]), str(m["instruction"]))
	}
	r := f.game.record(arg)
	return nil, holding(r).mutate(f.inTurn(), r)
}

func storeBytes(f *frame, arg any) (any, error) {
	a := fieldsOf(arg)
	defer a.end()
	text := strings.NewReader(a.str("bytes", ""))
	ctx := f.inTurn()
	if id, there := a.take("media"); there {
		r, err := ctx.StoreMediaBytes(str(id), text)
		if err != nil {
			return nil, err
		}
		n, _ := r.ByteLength()
		return n, nil
	}
	r, err := ctx.StoreRetrievableBytes(a.str("retrievable", ""), text)
	if err != nil {
		return nil, err
	}
	return r.ReadAll(context.Background())
}

func report(f *frame, arg any) (any, error) {
	a := fieldsOf(arg)
	defer a.end()
	h := f.helper()
	complete, interrupted := a.truth("complete"), a.truth("interrupted")
	if id, there := a.take("message"); there {
		if interrupted {
			return nil, h.InterruptMessage(str(id), a.str("delta", ""))
		}
		return nil, h.ReportMessage(str(id), a.str("delta", ""), complete)
	}
	if id, there := a.take("thought"); there {
		if interrupted {
			return nil, h.InterruptThought(str(id), a.str("delta", ""))
		}
		return nil, h.ReportThought(str(id), a.str("delta", ""), complete)
	}
	id := a.str("toolCall", "")
	r := event.ToolCallReport{Tool: a.str("tool", ""), Args: a.any("args"), Results: a.any("results"), IsComplete: complete}
	if isError, there := a.take("isError"); there {
		r.IsError = new(isError == true)
	}
	return nil, h.ReportToolCall(id, r)
}

var levels = map[string]event.Level{
	"trace": event.LevelTrace, "debug": event.LevelDebug, "info": event.LevelInfo, "warn": event.LevelWarn, "error": event.LevelError,
}

func writeLog(f *frame, arg any) (any, error) {
	a := fieldsOf(arg)
	defer a.end()
	payload, there := a.take("payload")
	if there && payload == nil {
		payload = json.RawMessage("null") // nil is none
	}
	f.helper().Log(levels[a.str("level", "info")], a.str("kind", "k"), a.str("message", ""), payload)
	return nil, nil
}

// startCommit commits and goes on when storage is called, or there was nothing to commit.
func startCommit(f *frame, _ any) (any, error) {
	f.start(f.inDispatch().Commit)
	return nil, nil
}

// startStore stores a record and goes on when storage is called, or nothing was spooled.
func startStore(f *frame, arg any) (any, error) {
	ctx, r := f.inTurn(), f.game.record(arg)
	f.start(func() error { return holding(r).store(ctx, r) })
	return nil, nil
}

// start makes a call that nobody awaits, and goes on when storage is called or the call has returned.
func (f *frame) start(call func() error) {
	reached := make(chan struct{})
	reach := sync.OnceFunc(func() { close(reached) })
	f.game.mu.Lock()
	f.game.storageCalled = reach
	f.game.mu.Unlock()
	go func() {
		defer reach()
		_ = call() // nobody asks
	}()
	<-reached
}
