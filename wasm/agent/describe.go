package agent

import (
	"strconv"

	"github.com/turncore/turncore/abi/value"
)

// describe is the agent's manifest as JSON, without what only its file says.
func (d *Definition) describe() []byte {
	w := writer{b: []byte(`{"manifest":1`)} // the version of the format
	w.text("name", d.Name)
	w.text("version", d.Version)
	w.text("description", d.Description)
	w.open(`"tools":[`)
	for _, t := range d.Tools {
		w.open("{")
		w.text("name", t.name)
		w.text("description", t.description)
		w.json("inputSchema", t.schema)
		if t.Confirm {
			w.open(`"confirm":true`)
		}
		w.close('}')
	}
	w.close(']')
	w.json("options", d.Options)
	w.open(`"executor":` + strconv.FormatBool(d.Executor != nil))
	w.open(`"middleware":[`)
	for i, list := range d.pipelines() {
		for _, m := range list {
			w.fields("pipeline", pipelineNames[i], "name", m.Name, "", "")
		}
	}
	w.close(']')
	w.asks(&d.Asks)
	w.close('}')
	return value.AppendText(nil, w.b)
}

// writer appends JSON.
type writer struct{ b []byte }

// open appends a member or an element, with the comma before it.
//
//go:noinline
func (w *writer) open(text string) {
	if last := w.b[len(w.b)-1]; last != '{' && last != '[' {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, text...)
}

func (w *writer) close(c byte) { w.b = append(w.b, c) }

//go:noinline
func (w *writer) text(key, s string) {
	w.open(`"` + key + `":`)
	w.b = value.AppendJSONString(w.b, s)
}

//go:noinline
func (w *writer) number(key string, n int64) {
	if n > 0 {
		w.open(`"` + key + `":` + strconv.FormatInt(n, 10))
	}
}

// json appends a member that is JSON already, null for an empty text.
//
//go:noinline
func (w *writer) json(key, text string) {
	if text == "" {
		text = "null"
	}
	if _, err := value.FromJSON(nil, []byte(text)); err != nil {
		panic("agent: " + key + " is no JSON: " + err.Error())
	}
	w.open(`"` + key + `":` + text)
}

// fields appends an object of three texts, without those that have no key.
//
//go:noinline
func (w *writer) fields(k1, v1, k2, v2, k3, v3 string) {
	w.open("{")
	w.text(k1, v1)
	w.text(k2, v2)
	if k3 != "" {
		w.text(k3, v3)
	}
	w.close('}')
}

// named appends the asks for something by its name, if there are any.
//
//go:noinline
func (w *writer) named(key string, list []Ask) {
	if len(list) == 0 {
		return
	}
	w.open(`"` + key + `":[`)
	for _, a := range list {
		w.fields("name", a.Name, "why", a.Why, "", "")
	}
	w.close(']')
}

func (w *writer) asks(a *Asks) {
	w.open(`"asks":{`)
	if len(a.HTTP) > 0 {
		w.open(`"http":[`)
		for _, o := range a.HTTP {
			w.fields("origin", o.Origin, "why", o.Why, "", "")
		}
		w.close(']')
	}
	if len(a.Credentials) > 0 {
		w.open(`"credentials":[`)
		for _, c := range a.Credentials {
			w.fields("name", c.Name, "origin", c.Origin, "why", c.Why)
		}
		w.close(']')
	}
	w.named("tools", a.Tools)
	w.named("models", a.Models)
	w.named("stores", a.Stores)
	w.number("log", a.Log)
	if q := &a.Quota; q.Steps|q.Frames|q.Effects|q.Bytes|q.Tokens > 0 {
		w.open(`"quota":{`)
		w.number("steps", q.Steps)
		w.number("frames", q.Frames)
		w.number("effects", q.Effects)
		w.number("bytes", q.Bytes)
		w.number("tokens", q.Tokens)
		w.close('}')
	}
	w.close('}')
}
