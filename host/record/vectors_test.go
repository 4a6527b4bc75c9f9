package record_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/record"
)

var fill = flag.Bool("vectors", false, "add the MessagePack form to vectors that have none")

// vector is a record as it was written once, and must be readable for ever.
type vector struct {
	Kind    string          `json:"kind"`
	Record  json.RawMessage `json:"record"`
	Msgpack string          `json:"msgpack,omitempty"` // in hexadecimal
}

func kindNamed(t testing.TB, name string) record.Kind {
	t.Helper()
	for k := record.Kind(0); k < record.Kinds; k++ {
		if k.String() == name {
			return k
		}
	}
	t.Fatalf("%q is no kind of record", name)
	return 0
}

// vectorsOf returns the vectors of all versions by the names of their files. JavaScript reads the same.
func vectorsOf(t testing.TB) map[string]vector {
	t.Helper()
	files, err := filepath.Glob("../../abi/testdata/records/v*/*.json")
	if err != nil || len(files) < 23 {
		t.Fatalf("%d vectors: %v", len(files), err)
	}
	all := make(map[string]vector)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v vector
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if v.Msgpack == "" && *fill {
			r, err := record.UnmarshalJSON(kindNamed(t, v.Kind), v.Record, nil)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			body, err := record.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			v.Msgpack = hex.EncodeToString(body)
			text = bytes.TrimSuffix(bytes.TrimSpace(text), []byte("\n}"))
			text = append(text, ",\n  \"msgpack\": \""+v.Msgpack+"\"\n}\n"...)
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		all[filepath.Base(filepath.Dir(file))+"/"+strings.TrimSuffix(filepath.Base(file), ".json")] = v
	}
	return all
}

func compact(t testing.TB, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Both spellings of a vector give the same record, and a record gives both.
func TestVectors(t *testing.T) {
	for name, v := range vectorsOf(t) {
		t.Run(name, func(t *testing.T) {
			kind := kindNamed(t, v.Kind)
			body, err := hex.DecodeString(v.Msgpack)
			if err != nil {
				t.Fatal(err)
			}
			fromMsgpack, err := record.Unmarshal(kind, body, nil)
			if err != nil {
				t.Fatal(err)
			}
			fromJSON, err := record.UnmarshalJSON(kind, v.Record, nil)
			if err != nil {
				t.Fatal(err)
			}
			for spelling, r := range map[string]record.Record{"MessagePack": fromMsgpack, "JSON": fromJSON} {
				again, err := record.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(again, body) {
					t.Errorf("from %s: MessagePack\n%x, want\n%x", spelling, again, body)
				}
				text, err := r.(json.Marshaler).MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				if want := compact(t, v.Record); string(text) != want {
					t.Errorf("from %s: JSON\n%s, want\n%s", spelling, text, want)
				}
			}
		})
	}
}
