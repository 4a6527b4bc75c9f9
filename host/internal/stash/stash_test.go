package stash

import (
	"reflect"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/internal/wire"
)

// set sets the value at a path, as a context does.
func set(t *testing.T, s *Data, path string, v any) {
	t.Helper()
	steps := strings.Split(path, ".")
	data, err := wire.Append(nil, v, path)
	if err == nil {
		data, err = s.With(path, steps, data)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Set(steps[0], data)
}

// What is missing on a path is made; what is taken out leaves the rest.
func TestPaths(t *testing.T) {
	s, err := Load(map[string]any{"user": map[string]any{"name": "A"}})
	if err != nil {
		t.Fatal(err)
	}
	set(t, &s, "user.mails.1.at", "example.com")
	set(t, &s, "n", 7)
	want := map[string]any{
		"user": map[string]any{"name": "A", "mails": []any{nil, map[string]any{"at": "example.com"}}}, "n": int64(7),
	}
	if got := s.All(); !reflect.DeepEqual(got, want) {
		t.Fatalf("%v", got)
	}
	data, ok := s.Without("user.mails.1", []string{"user", "mails", "1"})
	if s.Set("user", data); !ok {
		t.Fatal("user.mails.1 is not found")
	}
	if got, ok := s.Get([]string{"user", "mails"}); !ok || !reflect.DeepEqual(got, []any{nil, nil}) {
		t.Errorf("%v, %t", got, ok)
	}
	for _, path := range []string{"user.mails.2", "user.mails.01", "user.name.first", "nobody", "nobody.name"} {
		if v, ok := s.Get(strings.Split(path, ".")); ok {
			t.Errorf("%s is %v", path, v)
		}
	}
	if _, ok := s.Without("user.mails.9", []string{"user", "mails", "9"}); ok {
		t.Error("user.mails.9 was taken out")
	}
	for path, reason := range map[string]string{"n.x": "n holds a value without parts", "user.mails.8192": "8192 is no place in a list"} {
		if _, err := s.With(path, strings.Split(path, "."), []byte{0x01}); err == nil || !strings.HasSuffix(err.Error(), path+": "+reason) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A copy and its original do not see what becomes of the other.
func TestSnapshot(t *testing.T) {
	var s Data
	set(t, &s, "a", 1)
	c := s.Snapshot()
	set(t, &s, "b", 2)
	set(t, &c, "a", 3)
	if !s.Unset("b") || s.Unset("b") {
		t.Error("b is taken out once")
	}
	if got := s.All(); !reflect.DeepEqual(got, map[string]any{"a": int64(1)}) {
		t.Errorf("the original is %v", got)
	}
	if got := c.All(); !reflect.DeepEqual(got, map[string]any{"a": int64(3)}) {
		t.Errorf("the copy is %v", got)
	}
	if raw := c.Encode(); string(raw) != "\x81\xa1a\x03" {
		t.Errorf("the copy crosses as %x", raw)
	}
	if raw := new(Data).Encode(); raw != nil {
		t.Errorf("an empty stash crosses as %x", raw)
	}
}
