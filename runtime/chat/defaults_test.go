package chat

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
)

// plain is a provider that takes every option and has nothing but a name.
type plain struct{ Provider }

func (plain) Protocol() Protocol {
	return Protocol{Name: "plain", BaseURL: "http://plain", Options: ofSome}
}

func (plain) Path(string, bool) string { return "" }

// Setting an option to its default from abi/options.json changes nothing.
func TestDefaultsAreAsDescribed(t *testing.T) {
	text, err := os.ReadFile("../../abi/options.json")
	if err != nil {
		t.Fatal(err)
	}
	type option struct {
		Name    string
		Default json.RawMessage
		Members []option
	}
	var described struct{ Common, Own []option }
	if err := json.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	parse := func(given string) options {
		v, err := value.FromJSON(nil, []byte(`{"model":"m"`+given+`}`))
		if err != nil {
			t.Fatal(err)
		}
		o, err := parseOptions(v, []Provider{plain{}}, "")
		if err != nil {
			t.Fatalf("%s: %v", given, err)
		}
		if len(o.thoughts.compatible) == 0 {
			o.thoughts.compatible = nil
		}
		return o
	}
	want, n := parse(""), 0
	check := func(given string) {
		if n++; !reflect.DeepEqual(parse(given), want) {
			t.Errorf("%s is not the default", given)
		}
	}
	elsewhere := []string{"toolFormat", "toolDelivery", "reasoningFormat", "reasoningOpened", "toolChoice", "capabilities"} // handled by package provider
	for _, o := range slices.Concat(described.Common, described.Own) {
		if slices.Contains(elsewhere, o.Name) {
			continue
		}
		if len(o.Default) > 0 {
			check(`,"` + o.Name + `":` + string(o.Default))
		}
		for _, m := range o.Members {
			check(`,"` + o.Name + `":{"` + m.Name + `":` + string(m.Default) + `}`)
		}
	}
	if n < 20 {
		t.Errorf("%d defaults", n)
	}
}

// plainLeading is one whose answers may begin with reasoning.
type plainLeading struct{ plain }

func (plainLeading) Protocol() Protocol {
	p := plain{}.Protocol()
	p.Leading = true
	return p
}

// A provider that names options about texts, but says nothing about who reads them, does not take them.
func TestOptionsOfTextsNeedATextOrAModule(t *testing.T) {
	for _, c := range []struct {
		provider     Provider
		option, want string
	}{
		{plain{}, `"toolFormat":"auto"`, "`toolFormat` is not for provider plain"},
		{plain{}, `"toolDelivery":"native"`, "`toolDelivery` is not for provider plain"},
		{plain{}, `"reasoningFormat":"off"`, "`reasoningFormat` is not for provider plain"},
		{plain{}, `"reasoningOpened":true`, "`reasoningOpened` is not for provider plain"},
		{plain{}, `"toolForma":"auto"`, "`toolForma` is not a known option; other members of the request belong in `body`"},
		{plainLeading{}, `"reasoningFormat":"auto"`, "`reasoningFormat` must be leading or off"},
		{plainLeading{}, `"reasoningFormat":"off"`, ""},
	} {
		v, err := value.FromJSON(nil, []byte(`{"model":"m",`+c.option+`}`))
		if err != nil {
			t.Fatal(err)
		}
		_, err = parseOptions(v, []Provider{c.provider}, "")
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.option, err, c.want)
		}
	}
}
