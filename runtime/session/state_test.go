package session_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/session"
)

func state(t testing.TB, text string) *session.State {
	t.Helper()
	s, err := session.NewState(from(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestState(t *testing.T) {
	s := state(t, `{b: 1, "app:x": {y: 2}, a: null, "10": 0, "9": 0}`)
	if got := show(t, s.Append(nil)); got != `{"9":0,"10":0,"app:x":{"y":2},"b":1}` {
		t.Errorf("state %s", got)
	}
	var names []string
	for _, m := range s.Members() {
		names = append(names, m.Name)
	}
	if got := strings.Join(names, " "); got != "10 9 app:x b" {
		t.Errorf("names %s", got)
	}
	if s.Get("a") != nil || s.Get("") != nil || s.Get("app:") != nil || show(t, s.Get("app:x")) != `{"y":2}` {
		t.Error("values")
	}
	for name, v := range map[string][]byte{"b": nil, "app:x": value.AppendNil(nil), "missing": nil} {
		if err := s.Set(name, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Set("temp:z", value.AppendInt(nil, 5)); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(delta(t, `{"user:u": 1, "9": null, "temp:z": 6}`)); err != nil {
		t.Fatal(err)
	}
	if got := show(t, s.Append(nil)); got != `{"10":0,"temp:z":6,"user:u":1}` || len(s.Members()) != 3 {
		t.Errorf("state %s", got)
	}
	empty, err := session.NewState(nil)
	if err != nil || show(t, empty.Append(nil)) != "{}" || len(empty.Members()) != 0 {
		t.Errorf("an empty state: %v", err)
	}
}

// A change that fails changes nothing, not even the others beside it.
func TestStateRefuses(t *testing.T) {
	s := state(t, `{a: 1}`)
	long := value.AppendString(nil, strings.Repeat("x", session.MaxValue))
	for _, c := range []struct {
		name, field string
		v           []byte
	}{
		{"tmp:x", "tmp:x", value.AppendInt(nil, 1)},
		{"", "", value.AppendInt(nil, 1)},
		{"x", "x", long},
		{"x", "x", []byte{0x81}},
		{"x", "x", []byte{0xd4, 1, 1}},
		{"x", "x", []byte{1, 1}},
		{"x", "x" + strings.Repeat("[0]", 85) + "…", append(bytes.Repeat([]byte{0x91}, value.MaxDepth+1), 1)},
		{"x", "x.k", []byte{0x82, 0xa1, 'k', 1, 0xa1, 'k', 2}},
	} {
		err := s.Apply([]session.Member{{Name: "b", Value: value.AppendInt(nil, 1)}, {Name: c.name, Value: c.v}})
		if err == nil {
			t.Errorf("%q is set to %.20q", c.name, c.v)
			continue
		}
		wantError(t, err, session.InvalidState, c.field)
		if got := show(t, s.Append(nil)); got != `{"a":1}` {
			t.Errorf("state %s after %v", got, err)
		}
	}
	for _, c := range []struct {
		field string
		v     []byte
	}{
		{"users:x", from(t, `{"users:x": 1}`)},
		{"", from(t, `[]`)},
		{"", []byte{0x81}},
		{"", []byte{0x81, 1, 1}},
		{"k", []byte{0x82, 0xa1, 'k', 1, 0xa1, 'k', 2}},
	} {
		_, err := session.NewState(c.v)
		wantError(t, err, session.InvalidState, c.field)
	}
}

func TestStateIsBounded(t *testing.T) {
	s, err := session.NewState(nil)
	if err != nil {
		t.Fatal(err)
	}
	big := value.AppendString(nil, strings.Repeat("x", session.MaxValue-5))
	for i := range session.MaxState/session.MaxValue - 2 {
		if err := s.Set(fmt.Sprint("k", i), big); err != nil {
			t.Fatal(err)
		}
	}
	// A value in place of another counts once, and a deleted one no longer.
	for range 20 {
		if err := s.Set("k1", big); err != nil {
			t.Fatal(err)
		}
		if err := s.Set("other", big[:5]); err == nil {
			t.Fatal("half a value is set")
		}
		if err := s.Set("l", big); err != nil {
			t.Fatal(err)
		}
		if err := s.Set("l", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Set("l", big); err != nil {
		t.Fatal(err)
	}
	// Fill it to the last byte; what is deleted needs no room.
	room := session.MaxState
	for _, m := range s.Members() {
		room -= len(m.Name) + len(m.Value)
	}
	if err := s.Set("last", value.AppendString(nil, strings.Repeat("x", room-len("last")-5))); err != nil {
		t.Fatal(err)
	}
	for _, v := range [][]byte{nil, value.AppendNil(nil)} {
		if err := s.Set("missing", v); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, s.Set("m", value.AppendNil(value.AppendListHeader(nil, 1))), session.InvalidState, "m")
	wantError(t, s.Set("m", big), session.InvalidState, "m")
	wantError(t, s.Check([]session.Member{{Name: "m", Value: big}}), session.InvalidState, "m")
	if s.Get("m") != nil {
		t.Error("it is set")
	}
}
