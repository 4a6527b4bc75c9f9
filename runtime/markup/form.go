package markup

const (
	maxMarker = 512 // bytes by which it shows whether a call begins
	maxSpace  = 64  // bytes of white space between the parts of a marker
)

// verdict is what a look at a text that is still coming tells.
type verdict uint8

const (
	no verdict = iota
	yes
	more // text is needed to tell
)

// form is a form in which calls, or reasoning, are written.
type form struct {
	format Formats
	lead   string // the bytes that it can begin with
	// offered says that it begins with the name of an offered tool.
	offered bool
	// start says that it can stand at the start of a text only.
	start bool
	// weak says that it has no marker: it is not looked for once there was a call of another format.
	weak bool
	// loose says that a text which ends inside the form is prose, not a call that is cut off.
	loose bool
	// open tells whether the form begins at the start of t, and how long the marker is. It is asked until it knows,
	// and knows when t is maxMarker long.
	open func(r *Reader, c *candidate, t []byte) (int, verdict)
	// body goes on at c.pos and tells whether the form ends, which is then at c.pos. If the text turns out to be none
	// of this form, it is prose up to c.pos. Without a body, the marker is all there is.
	body func(r *Reader, c *candidate, t []byte) verdict
	// calls takes up the calls of the whole form. What it refuses is prose.
	calls func(r *Reader, c *candidate, t []byte) bool
}

// forms are tried in their order, which is that of the table in the package documentation.
var forms = [...]form{
	{format: Hermes, lead: "<", open: hermesOpen, body: hermesBody, calls: objectCalls},
	{format: Gemma, lead: "<c", open: gemmaOpen, body: gemmaBody, calls: gemmaCalls},
	{format: Gemma, offered: true, weak: true, open: gemmaName, body: gemmaBody, calls: gemmaCalls},
	{format: GptOss, lead: "<", open: harmonyCall, body: harmonyBody, calls: namedCall},
	{format: HarmonyAnalysis, lead: "<", open: harmonyThought},
	{format: GptOss | HarmonyAnalysis, lead: "<", open: harmonyText},
	{format: Phi, lead: "f<", open: phiOpen, body: phiBody, calls: objectCalls},
	{format: Pythonic, lead: "<", open: pythonicWrapped, body: pythonicBody, calls: pythonicCalls},
	{format: Pythonic, lead: "[`", start: true, weak: true, loose: true, open: pythonicOpen, body: pythonicBody, calls: pythonicCalls},
	{format: BarePythonic, lead: "`", offered: true, weak: true, loose: true, open: bareOpen, body: bareBody, calls: pythonicCalls},
	{format: Llama3JSON, lead: "{[<`", start: true, weak: true, loose: true, open: llamaOpen, body: llamaBody, calls: llamaCalls},
	{format: Mistral, lead: "[", open: mistralOpen, body: mistralBody, calls: mistralCalls},
	{format: Qwen3Coder, lead: "<", open: qwenOpen, body: qwenBody, calls: qwenCalls},
	{format: LooseKeyed, offered: true, start: true, weak: true, loose: true, open: looseOpen, body: looseBody, calls: looseCalls},
}

func (f *form) begins(c byte) bool {
	for i := range len(f.lead) {
		if f.lead[i] == c {
			return true
		}
	}
	return f.offered && nameByte(c)
}

// candidate is text that is read as a form. Places are counted from the start of the form. When the text is longer than
// the limit, what is behind pos is all that is kept.
type candidate struct {
	form     *form
	from, to int    // of the arguments
	name     [2]int // from where to where the name goes
	pos      int    // up to where it is read
	state    uint8  // of the form's body
	defect   Defect
	thought  Formats // the reasoning that the form opens
	fenced   bool    // inside a code fence
	wrapped  bool    // behind a marker

	// What the scans of brackets and strings are inside of.
	depth   int
	quote   uint8 // the string's quotes, 1 for the first
	escaped bool  // behind a backslash
	prev    byte  // last byte outside of strings that is no white space
}

// runCandidate goes on reading the text as what it may be.
func (r *Reader) runCandidate(t []byte) (n int, wait bool) {
	c := &r.c
	seen := c.pos
	view := t
	if !r.over && len(t) > r.options.Limit {
		view = t[:r.options.Limit]
	}
	v := c.form.body(r, c, view)
	r.work += max(c.pos-seen, 0) + 1
	if v == more && len(view) < len(t) {
		if !c.form.loose {
			r.over = true
			r.head = append(r.head[:0], t[:min(maxHead, len(view))]...)
			return r.drop(), false
		}
		v, c.pos = no, len(view)
	}
	if v == more {
		switch {
		case r.final && c.form.loose:
			v, c.pos = no, len(t)
		case r.final:
			v, c.pos, c.defect = yes, len(t), CutOff
		case r.over:
			return r.drop(), true
		default:
			return 0, true
		}
	}
	t = t[:c.pos]
	if v == yes {
		switch {
		case r.over:
			r.addCall(c.form.format, nil, nil, r.head, TooLong)
			r.over = false
		case c.defect != None:
			r.addCall(c.form.format, t[c.name[0]:c.name[1]], nil, t, c.defect)
		case !c.form.calls(r, c, t):
			v = no
		}
	}
	c.form = nil
	r.prose.cut = r.prose.cut || v == yes
	if v == no {
		r.add(t)
	}
	return len(t), false
}

// drop forgets what has been read of a call that is too long.
func (r *Reader) drop() int {
	n := r.c.pos
	r.c.pos = 0
	return n
}

// nest reads a value of JSON that begins with a bracket or a quote, whatever is inside, and tells where it ends.
func (c *candidate) nest(t []byte) verdict {
	for c.pos < len(t) {
		b := t[c.pos]
		c.pos++
		if c.quote != 0 {
			switch {
			case c.escaped:
				c.escaped = false
			case b == '\\':
				c.escaped = true
			case b == '"':
				if c.quote = 0; c.depth == 0 {
					return yes
				}
			}
			continue
		}
		switch b {
		case '"':
			c.quote = 1
		case '{', '[':
			c.depth++
		case '}', ']':
			if c.depth--; c.depth <= 0 {
				return yes
			}
		}
	}
	return more
}

// find moves to the end of the next s.
func (c *candidate) find(t []byte, s string) verdict {
	for c.pos < len(t) {
		if t[c.pos] == s[0] {
			switch begins(t[c.pos:], s) {
			case yes:
				c.pos += len(s)
				return yes
			case more:
				return more
			}
		}
		c.pos++
	}
	return more
}

// behind tells whether one of the bytes of set comes at t[n:], behind white space, and where.
func behind(t []byte, n int, set string) (int, verdict) {
	end := min(len(t), n+maxSpace)
	i := spaceEnd(t[:end], n)
	if i == len(t) {
		return i, more
	}
	for j := range len(set) {
		if t[i] == set[j] {
			return i, yes
		}
	}
	return i, no
}

// closer moves behind the first of the texts that comes next, behind white space. A text without one of them is no worse.
func (c *candidate) closer(r *Reader, t []byte, texts ...string) verdict {
	i := spaceEnd(t[:min(len(t), c.pos+maxSpace)], c.pos)
	if i == len(t) && !r.final {
		return more
	}
	for _, s := range texts {
		switch begins(t[i:], s) {
		case yes:
			c.pos = i + len(s)
			return yes
		case more:
			if !r.final {
				return more
			}
		}
	}
	return yes
}

// whole tells whether nothing but the envelope of a text follows.
func (c *candidate) whole(r *Reader, t []byte) verdict {
	c.pos = spaceEnd(t, c.pos)
	if c.pos == len(t) {
		if r.final {
			return yes
		}
		return more
	}
	return r.ends(t[c.pos:])
}

// fence returns the length of the line that opens a code fence at the start of t, 0 if there is none.
func fence(t []byte) (int, verdict) {
	if v := begins(t, "```"); v != yes {
		return 0, v
	}
	for i := 3; i < min(len(t), 3+maxSpace); i++ {
		switch {
		case t[i] == '\n':
			return i + 1, yes
		case !nameByte(t[i]) && t[i] != ' ' && t[i] != '\r':
			return 0, no
		}
	}
	if len(t) < 3+maxSpace {
		return 0, more
	}
	return 0, no
}

// nameEnd returns the end of the name at t[i:]; yes means that it is there to see.
func nameEnd(t []byte, i int) (int, verdict) {
	from := i
	for i < len(t) && nameByte(t[i]) {
		if i++; i-from > maxName {
			return i, no
		}
	}
	switch {
	case i == len(t):
		return i, more
	case i == from:
		return i, no
	}
	return i, yes
}
