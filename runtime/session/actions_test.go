package session_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/session"
)

func actions(t testing.TB, text string) *session.Actions {
	t.Helper()
	a, err := session.ParseActions(from(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a
}

func TestParseActions(t *testing.T) {
	for _, text := range []string{`{}`, `{stateDelta: {}}`, `{escalate: false}`, `{skipSummarization: null}`} {
		if a := actions(t, text); !a.Empty() || show(t, a.Append(nil)) != "{}" {
			t.Errorf("%s is not empty: %+v", text, a)
		}
	}
	for _, text := range []string{
		`{stateDelta: {a: null}}`, `{artifactDelta: {a: 0}}`, `{skipSummarization: true}`, `{transferToAgent: "a"}`, `{escalate: true}`,
		`{requestedConfirmations: {a: {}}}`, `{compaction: {first: "a", last: "b"}}`, `{rewindBeforeInvocationId: "a"}`, `{more: 1}`,
	} {
		a := actions(t, text)
		if a.Empty() {
			t.Errorf("%s is empty", text)
		}
		if got := a.Append(nil); !bytes.Equal(got, from(t, text)) {
			t.Errorf("%s became %s", text, show(t, got))
		}
	}
	_, err := session.ParseActions(from(t, `{stateDelta: {"App:x": 1}}`))
	wantError(t, err, session.InvalidState, "stateDelta.App:x")
	_, err = session.ParseActions(from(t, `{escalate: 1}`))
	wantError(t, err, session.InvalidEvent, "escalate")
	_, err = session.ParseActions([]byte{0x82, 0xa1, 'k', 1, 0xa1, 'k', 2})
	wantError(t, err, session.InvalidEvent, "k")
}

// Scenario 20: the later call wins where both set something, and what either asks for is asked for.
func TestMerge(t *testing.T) {
	a := actions(t, `{stateDelta: {a: 1, z: 1}, artifactDelta: {f: 4, g: 1}, escalate: true, transferToAgent: "x",
		requestedConfirmations: {c1: {name: "t"}}, one: 1}`)
	b := actions(t, `{stateDelta: {z: 2, b: null}, artifactDelta: {f: 3, h: 0, g: 2}, skipSummarization: true,
		requestedConfirmations: {c2: {name: "u"}, c1: {name: "v"}}, one: 2, two: 2}`)
	a.Merge(b)
	want := `{"stateDelta":{"a":1,"z":2,"b":null},"artifactDelta":{"f":4,"g":2,"h":0},"skipSummarization":true,"transferToAgent":"x",` +
		`"escalate":true,"requestedConfirmations":{"c1":{"name":"v"},"c2":{"name":"u"}},"one":2,"two":2}`
	if got := show(t, a.Append(nil)); got != want {
		t.Errorf("merged %s", got)
	}
	c := actions(t, `{transferToAgent: "y", compaction: {first: "a", last: "b"}, rewindBeforeInvocationId: "i"}`)
	a.Merge(c)
	if a.TransferToAgent != "y" || show(t, a.Compaction) != `{"first":"a","last":"b"}` || a.RewindBefore != "i" {
		t.Errorf("merged %+v", a)
	}
	a.Merge(&session.Actions{})
	if a.TransferToAgent != "y" || a.Compaction == nil || a.RewindBefore != "i" || !a.Escalate || !a.SkipSummarization || len(a.StateDelta) != 3 {
		t.Errorf("merged with nothing: %+v", a)
	}
}

// Scenario 8: an event that was delivered does not change when more is added to the actions that it was made of.
func TestMergeLeavesSharedSlices(t *testing.T) {
	one := func(name string, n int64) *session.Actions {
		return &session.Actions{
			StateDelta:    []session.Member{{Name: name, Value: value.AppendInt(nil, n)}},
			ArtifactDelta: []session.ArtifactVersion{{Name: name, Version: uint32(n)}},
			Confirmations: []session.Member{{Name: name, Value: []byte{0x80}}},
			Others:        []session.Member{{Name: name, Value: value.AppendInt(nil, n)}},
		}
	}
	var a session.Actions
	var delivered []session.Actions
	var want []string
	for i := range 40 {
		a.Merge(one(fmt.Sprint("n", i%5), int64(i)))
		delivered = append(delivered, a)
		want = append(want, show(t, a.Append(nil)))
	}
	b := delivered[3]
	b.Merge(one("other", 1))
	for i := range delivered {
		if got := show(t, delivered[i].Append(nil)); got != want[i] {
			t.Errorf("the actions of event %d became %s, were %s", i, got, want[i])
		}
	}
}
