package conformance_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/hosttest"
)

// model is a second telling of the loop, from its description alone: it says what the log of a scenario must be. It
// knows scripts of say, see, store, report (of messages), ack, nack, abort, throw and next.
type model struct {
	runner *conformance.RunnerSpec
	lines  []string

	messages    []string // of the turn
	turnAborted bool
}

type modelDispatch struct {
	messages      []string
	queue         []string
	sealed        map[string]bool // streams of messages
	iteration     int
	acked, nacked bool
	nackedWith    string
	aborted       bool
}

func (d *modelDispatch) signalled() bool { return d.acked || d.nacked }

// Errors are told apart by their words: a scenario's by its name, others by their code.
const (
	alreadySignalled = "E_LLM_EXECUTION_ALREADY_SIGNALLED"
	shortCircuited   = "E_PIPELINE_SHORT_CIRCUITED"
	executorFailed   = "E_LLM_EXECUTION_EXECUTOR_ERROR"
	streamSealed     = "sealed"
)

func (m *model) say(words ...any) {
	var all []string
	for _, word := range words {
		if s := fmt.Sprint(word); s != "" {
			all = append(all, s)
		}
	}
	m.lines = append(m.lines, strings.Join(all, " "))
}

// run does a function's steps. It returns the error that it threw, "" for none.
func (m *model) run(by string, d *modelDispatch, script conformance.Script, next func()) string {
	for _, step := range script {
		if d != nil && step.From > d.iteration || d != nil && step.At >= 0 && step.At != d.iteration {
			continue
		}
		arg, _ := step.Arg.(string)
		switch step.Op {
		case "say":
			m.say(by+":", arg)
		case "throw":
			return arg
		case "next":
			next()
		case "see":
			messages := m.messages
			if d != nil {
				messages = d.messages
			}
			text, _ := json.Marshal(map[string]any{"messages": append([]string{}, messages...)})
			m.say(by, "saw", string(text))
		case "store":
			id := step.Arg.(map[string]any)["message"].(string)
			if d == nil {
				m.say("storage storeMessage", id)
				m.messages = append(m.messages, id)
				continue
			}
			d.messages = append(d.messages, id)
			d.queue = append(d.queue, id)
		case "report":
			of := step.Arg.(map[string]any)
			id := of["message"].(string)
			if d.sealed[id] {
				return streamSealed
			}
			words := []any{"message", id, `"x"`}
			for _, end := range []string{"complete", "interrupted"} {
				if of[end] == true {
					words, d.sealed[id] = append(words, end), true
				}
			}
			m.say(words...)
		case "abort":
			if d != nil {
				d.aborted = true
			} else {
				m.turnAborted = true
			}
		case "ack", "nack":
			if d.signalled() {
				return alreadySignalled
			}
			if d.acked = step.Op == "ack"; !d.acked {
				d.nacked, d.nackedWith = true, arg
			}
		}
	}
	return ""
}

// pipeline runs middleware and returns what its failure is called, "" for none.
func (m *model) pipeline(name string, d *modelDispatch, list []conformance.Script, code string) string {
	reached, failure := len(list) == 0, ""
	aborted := func() bool { return d != nil && d.aborted || d == nil && m.turnAborted }
	var from func(i int)
	from = func(i int) {
		for ; i < len(list); i++ {
			if aborted() {
				continue
			}
			called := false
			thrown := m.run(fmt.Sprintf("%s %d", name, i), d, list[i], func() {
				if !called {
					called = true
					from(i + 1)
				}
			})
			switch {
			case thrown == alreadySignalled && name == "dispatchOutput" && d.acked:
				m.say("warning already-signalled")
				if called {
					return
				}
			case thrown != "":
				if failure == "" {
					failure = code
				}
				return
			default:
				return
			}
		}
		reached = true
	}
	from(0)
	if failure == "" && !reached && !aborted() && (d == nil || !d.signalled()) {
		return shortCircuited
	}
	return failure
}

func scriptsIn(entries []conformance.Entry) (list []conformance.Script) {
	for _, e := range entries {
		list = append(list, e.Script)
	}
	return list
}

func entries(scripts []conformance.Script) (list []conformance.Entry) {
	for _, s := range scripts {
		list = append(list, conformance.Entry{Script: s})
	}
	return list
}

// seams runs an iteration's pipelines and its executor.
func (m *model) seams(d *modelDispatch) string {
	if failure := m.pipeline("dispatchInput", d, scriptsIn(m.runner.DispatchInput), "E_DISPATCH_PIPELINE_ERROR"); failure != "" {
		return failure
	}
	if d.aborted || d.signalled() {
		return ""
	}
	if m.run("executor", d, m.runner.Executor, nil) != "" {
		return executorFailed
	}
	if d.aborted || d.nacked {
		return ""
	}
	return m.pipeline("dispatchOutput", d, scriptsIn(m.runner.DispatchOutput), "E_DISPATCH_PIPELINE_ERROR")
}

// loop runs the dispatch and returns how it ended.
func (m *model) loop(d *modelDispatch) (status, failure string) {
	m.say("dispatchStart")
	n := 0
	for ; failure == "" && !d.aborted && !d.signalled(); n++ {
		d.iteration = n
		m.say("iterationStart", n)
		failure = m.seams(d)
		committed := false
		if failure == "" && !d.aborted && !d.nacked {
			for _, id := range d.queue {
				m.say("storage storeMessage", id)
				m.messages = append(m.messages, id)
				committed = true
			}
			d.queue = nil
		}
		status := "continue"
		switch {
		case failure != "":
			status = "nack"
		case d.aborted && !committed:
			status = "aborted"
		case d.nacked:
			status = "nack"
		case d.acked:
			status = "ack"
		}
		words := []any{"iterationEnd", n, status}
		for _, id := range d.queue {
			words = append(words, "-store message", id)
		}
		m.say(words...)
		d.queue = nil
	}
	switch {
	case failure != "":
		status = "nack"
	case d.aborted:
		status = "aborted"
	case d.nacked:
		status, failure = "nack", d.nackedWith
	default:
		status = "ack"
	}
	m.say("dispatchEnd", status, n, failure)
	return status, failure
}

// turn runs the turn.
func (m *model) turn() {
	m.say("turnStart")
	status, failure := m.stages()
	m.say("turnEnd", status, failure)
	m.say("main did run")
}

func (m *model) stages() (status, failure string) {
	if failure := m.pipeline("turnInput", nil, m.runner.TurnInput, "E_INPUT_PIPELINE_ERROR"); failure != "" {
		m.say("error", failure)
		return "failed", failure
	}
	if m.turnAborted {
		return "aborted", ""
	}
	d := &modelDispatch{messages: append([]string{}, m.messages...), sealed: map[string]bool{}}
	status, failure = m.loop(d)
	if failure != "" {
		m.say("error", failure)
		if failure == executorFailed || d.nacked && failure == d.nackedWith {
			return "nack", ""
		}
		return "failed", failure
	}
	if status != "ack" {
		return status, ""
	}
	if failure := m.pipeline("turnOutput", nil, m.runner.TurnOutput, "E_OUTPUT_PIPELINE_ERROR"); failure != "" {
		m.say("error", failure)
		return "failed", failure
	}
	if m.turnAborted {
		return "aborted", ""
	}
	return "ack", ""
}

// scripts makes random scripts.
type scripts struct {
	*rand.Rand
	stored int
}

func step(op string, arg any) conformance.Step {
	return conformance.Step{Op: op, Arg: arg, At: -1, From: -1, Call: -1}
}

func (r *scripts) script(dispatch, middleware bool) conformance.Script {
	s := conformance.Script{}
	for range r.IntN(4) {
		next := step("say", fmt.Sprint("step ", len(s)))
		switch p := r.IntN(24); {
		case p < 6:
			r.stored++
			next = step("store", map[string]any{"message": fmt.Sprint("m", r.stored)})
		case p < 9:
			next = step("see", []any{"messages"})
		case p < 10:
			next = step("throw", fmt.Sprint("X", r.IntN(3)))
		case p < 11:
			next = step("abort", nil)
		case p < 14 && dispatch:
			next = step("ack", nil)
		case p < 15 && dispatch:
			next = step("nack", fmt.Sprint("N", r.IntN(3)))
		case p < 19 && dispatch && !middleware:
			end := r.IntN(4)
			next = step("report", map[string]any{
				"message": fmt.Sprint("s", r.IntN(2)), "delta": "x", "complete": end > 1, "interrupted": end == 3,
			})
		}
		if dispatch && r.IntN(3) == 0 {
			next.At = r.IntN(3)
		}
		s = append(s, next)
	}
	if middleware && r.IntN(10) > 0 {
		at := r.IntN(len(s) + 1)
		s = append(s[:at:at], append(conformance.Script{step("next", nil)}, s[at:]...)...)
	}
	return s
}

func (r *scripts) pipeline(dispatch bool) (list []conformance.Script) {
	for range r.IntN(3) {
		list = append(list, r.script(dispatch, true))
	}
	return list
}

// Random turns go as the model says, on every engine, and their events are well bracketed.
func TestModel(t *testing.T) {
	count := 400
	if testing.Short() {
		count = 50
	}
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			player := conformance.NewPlayer(conformance.Options{Engine: engine})
			defer player.Close()
			seen := map[string]int{}
			for seed := range count {
				r := &scripts{Rand: rand.New(rand.NewPCG(uint64(seed), 1))}
				spec := &conformance.RunnerSpec{
					TurnInput: r.pipeline(false), TurnOutput: r.pipeline(false),
					DispatchInput: entries(r.pipeline(true)), DispatchOutput: entries(r.pipeline(true)),
				}
				end := step("ack", nil)
				end.From = 3
				spec.Executor = append(conformance.Script{end}, r.script(true, false)...)
				m := &model{runner: spec}
				m.turn()
				s := &conformance.Scenario{ID: fmt.Sprint("model/", seed), Runner: spec}
				for _, line := range m.lines {
					s.Expect = append(s.Expect, line)
					seen[strings.Fields(line)[0]]++
				}
				log, err := player.Play(s)
				if err == nil {
					err = s.Check(log)
				}
				if err != nil {
					text, _ := json.Marshal(spec)
					t.Fatalf("%v\n%s", err, text)
				}
				bracketed(t, log)
			}
			for _, word := range []string{"turnEnd", "iterationEnd", "message", "storage", "error", "warning"} {
				if seen[word] == 0 {
					t.Errorf("no turn had a %s", word)
				}
			}
		})
	}
}

// bracketed checks that what begins ends, innermost first, and that events are numbered without a gap.
func bracketed(t *testing.T, log conformance.Log) {
	t.Helper()
	var open []string
	seq := 0.0
	for _, line := range log {
		name, _ := line["event"].(string)
		if name == "" {
			continue
		}
		if seq++; line["seq"] != seq {
			t.Errorf("%s has seq %v, want %v", name, line["seq"], seq)
		}
		if what, ok := strings.CutSuffix(name, "Start"); ok {
			open = append(open, what)
		} else if what, ok := strings.CutSuffix(name, "End"); ok {
			if len(open) == 0 || open[len(open)-1] != what {
				t.Fatalf("%s ends inside of %v:\n%s", what, open, log)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("%v did not end:\n%s", open, log)
	}
}
