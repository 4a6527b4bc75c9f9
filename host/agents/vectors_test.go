package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/turncore/turncore/host"
)

func init() {
	if flag.Lookup("update") == nil { // package turntest, which other tests import, may have defined it
		flag.Bool("update", false, "write the vectors anew")
	}
}

// updating reports whether the vectors are to be written anew.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// vectors reads the cases of a file that JavaScript's tests read, too, and writes them with -update as check fills them
// in.
func vectors[C any](t *testing.T, name string, check func(c *C) (title string)) {
	path := filepath.Join("..", "..", "abi", "testdata", "grants", name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []C
	if err := errors.Join(json.Unmarshal(text, &want), json.Unmarshal(text, &got)); err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 {
		t.Fatal("there are no cases")
	}
	for i := range got {
		if title := check(&got[i]); !updating() && !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s:\n got %+v\nwant %+v", title, got[i], want[i])
		}
	}
	if !updating() {
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := errors.Join(enc.Encode(got), os.WriteFile(path, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// violations are those that an error lists.
func violations(t *testing.T, err error, code host.Code) []string {
	if err == nil {
		return nil
	}
	var coded *host.Error
	if !errors.As(err, &coded) || coded.Code != code {
		t.Fatalf("the error is %v, want %s", err, code)
	}
	return coded.Details.([]string)
}

type documentCase struct {
	Name     string          `json:"name"`
	Document json.RawMessage `json:"document"`
	Errors   []string        `json:"errors,omitempty"`
}

func TestManifests(t *testing.T) {
	vectors(t, "manifests.json", func(c *documentCase) string {
		_, err := ParseManifest(c.Document)
		c.Errors = violations(t, err, host.CodeAgentManifest)
		return c.Name
	})
}

func TestGrants(t *testing.T) {
	vectors(t, "grants.json", func(c *documentCase) string {
		_, err := ReadGrant(c.Document)
		c.Errors = violations(t, err, host.CodeAgentGrant)
		return c.Name
	})
}

func TestTexts(t *testing.T) {
	type textCase struct {
		Name   string   `json:"name"`
		Text   string   `json:"text"`
		Errors []string `json:"errors,omitempty"`
	}
	vectors(t, "texts.json", func(c *textCase) string {
		_, err := ParseManifest([]byte(c.Text))
		c.Errors = violations(t, err, host.CodeAgentManifest)
		return c.Name
	})
}

func TestFits(t *testing.T) {
	type fitCase struct {
		Name     string          `json:"name"`
		Manifest json.RawMessage `json:"manifest"`
		Grant    json.RawMessage `json:"grant"`
		Code     string          `json:"code,omitempty"`
		Message  string          `json:"message,omitempty"`
		Explain  string          `json:"explain"`
	}
	vectors(t, "fits.json", func(c *fitCase) string {
		m, err := ParseManifest(c.Manifest)
		if err != nil {
			t.Fatal(c.Name, err)
		}
		var g *Grant
		if string(c.Grant) != "null" {
			if g, err = ReadGrant(c.Grant); err != nil {
				t.Fatal(c.Name, err)
			}
		}
		c.Code, c.Message, c.Explain = "", "", Explain(m, g)
		var unfit *host.Error
		if errors.As(g.Check(m), &unfit) {
			c.Code, c.Message = string(unfit.Code), unfit.Message
		}
		return c.Name
	})
}

func TestAddresses(t *testing.T) {
	type addressCase struct {
		Address string `json:"address"`
		Public  bool   `json:"public"`
	}
	vectors(t, "addresses.json", func(c *addressCase) string {
		c.Public = public(netip.MustParseAddr(c.Address))
		return c.Address
	})
}

// Of nothing there is nothing to say.
func TestExplainNothing(t *testing.T) {
	for _, g := range []*Grant{nil, {Agent: "research"}} {
		if text := Explain(nil, g); text != "" {
			t.Errorf("%q", text)
		}
	}
}
