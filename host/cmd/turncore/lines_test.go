package main

import (
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
)

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestStringsAsJavaScriptWritesThem(t *testing.T) {
	for s, want := range map[string]string{
		"":                          `""`,
		"a\"b\\c/d":                 `"a\"b\\c/d"`,
		"\b\f\n\r\t\x00\x1f":        `"\b\f\n\r\t\u0000\u001f"`,
		"<&>\u2028\u2029\x7f\u00e9": "\"<&>\u2028\u2029\x7f\u00e9\"",
		"😀\xff":                     "\"😀\uFFFD\"",
	} {
		got := string(appendString(nil, s))
		if got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
		var back string
		if err := json.Unmarshal([]byte(got), &back); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
}

func TestEndLine(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, `null`},
		{errors.New("a <b>"), `{"code":"Error","message":"a <b>"}`},
		{&host.Error{Name: "TypeError", Message: "no"}, `{"code":"TypeError","message":"no"}`},
		{&host.Error{Code: "E_X", Name: "X", Message: "no", Cause: io.EOF}, `{"code":"E_X","message":"no"}`},
		{&host.Error{}, `{"code":"Error","message":""}`},
	} {
		got := string(appendEnd(nil, nil, &turns.Result{Status: event.Failed, Iterations: 3, Err: c.err}))
		want := `{"event":"end","status":"failed","iterations":3,"messages":[],"thoughts":[],"toolCalls":[],"error":` + c.want + "}\n"
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestLinesStopAtTheFirstFailure(t *testing.T) {
	stopped := 0
	l := &lines{w: brokenWriter{}, stop: func(error) { stopped++ }}
	l.event(&event.TurnStart{})
	l.event(&event.TurnStart{})
	if err := l.end(nil, &turns.Result{Status: event.Ack}); !errors.Is(err, io.ErrShortWrite) || stopped != 1 {
		t.Errorf("%v, stopped %d times", err, stopped)
	}
}
