package pointer

import (
	"testing"

	"github.com/turncore/turncore/abi/value"
)

// The examples of RFC 6901, as fragments, and some that lead nowhere.
func TestPointers(t *testing.T) {
	document, err := value.FromJSON(nil, []byte(`{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}`))
	if err != nil {
		t.Fatal(err)
	}
	for fragment, want := range map[string]string{
		"/foo": `["bar","baz"]`, "/foo/0": `"bar"`, "/foo/1": `"baz"`, "/": "0", "/a~1b": "1", "/a%7E1b": "1", "/c%25d": "2", "/e%5Ef": "3",
		"/g%7Ch": "4", "/i%5cj": "5", "/k%22l": "6", "/%20": "7", "/m~0n": "8",
		"/foo/2": "", "/foo/-1": "", "/foo/x": "", "/a/b": "", "/a%2Fb": "", "/m~0n/0": "", "/c%d": "broken", "/c%2": "broken", "/c%": "broken", "/%+1": "broken",
	} {
		rest, ok := Unescape(fragment)
		if !ok {
			if want != "broken" {
				t.Errorf("%s is broken", fragment)
			}
			continue
		}
		at := document
		for rest != "" && at != nil {
			var token string
			token, rest = Next(rest)
			at = Child(at, token)
		}
		got := []byte(nil)
		if at != nil {
			got, _ = value.AppendJSON(nil, at)
		}
		if string(got) != want {
			t.Errorf("%s leads to %s, want %s", fragment, got, want)
		}
	}
}
