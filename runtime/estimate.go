package runtime

import (
	"slices"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
)

// claude is the encoding that every host estimates by length, without a warning.
const claude = "claude"

// tokens returns the number of tokens of the artifact's text, counted by the host's tokenizer or estimated from the
// length.
func (r *reader) tokens(encoding string) (uint64, error) {
	var failure error
	if slices.Contains(r.d.turn.config.Encodings, encoding) {
		e := &Estimate{Context: r.d.number, Encoding: encoding, Handle: r.source.handle, Part: r.source.part}
		if _, failure = r.task.Await(e); failure == nil {
			return uint64(e.Tokens[0]), nil
		} else if r.d.aborted {
			return 0, failure
		}
	}
	units := uint64(0)
	var preview []byte
	count, err := r.lines(0, maxLine, func(i uint64, line []byte) bool {
		if i == 0 {
			preview = append(preview, clipUnits(line, previewUnits)...)
		}
		units += utf16Length(line)
		return true
	})
	if err != nil {
		return 0, err
	}
	if count > 0 {
		units += count - 1 // line feeds
	}
	if encoding != claude {
		r.d.warnEstimate(encoding, preview, failure)
	}
	return tokensByLength(encoding, units), nil
}

// counted names a counted text: a record by its handle, a tool by its number, the system prompt, or a piece of a
// request by its hash.
type counted struct {
	encoding string
	what     uint8
	number   int64
}

// Kinds of counted texts.
const (
	countedRecord uint8 = iota
	countedTool
	countedPrompt
	countedPiece // by its hash
)

// tally counts the tokens of texts. The host's tokenizer gets them in one exchange. The turn remembers the counts,
// since a record never changes.
type tally struct {
	d        *Dispatch
	encoding string
	keys     []counted // of texts not counted yet
	texts    [][]byte
}

func (y *tally) known(what uint8, number int64) bool {
	_, ok := y.d.turn.counted[counted{y.encoding, what, number}]
	return ok
}

func (y *tally) of(what uint8, number int64) int64 {
	return y.d.turn.counted[counted{y.encoding, what, number}]
}

// add queues a text for counting and keeps it until then.
func (y *tally) add(what uint8, number int64, text []byte) {
	y.keys = append(y.keys, counted{y.encoding, what, number})
	y.texts = append(y.texts, text)
}

// count counts the queued texts. It fails only if the context is aborted.
func (y *tally) count(task Task) error {
	if y.d.turn.counted == nil {
		y.d.turn.counted = make(map[counted]int64)
	}
	exact := slices.Contains(y.d.turn.config.Encodings, y.encoding)
	for at := 0; at < len(y.texts); {
		end := len(y.texts)
		if exact {
			end = y.batch(at)
		}
		tokens, err := y.tokens(task, y.texts[at:end], exact)
		if err != nil {
			return err
		}
		for i, n := range tokens {
			y.d.turn.counted[y.keys[at+i]] = n
		}
		at = end
	}
	y.keys, y.texts = y.keys[:0], y.texts[:0]
	return nil
}

// batch returns the end of the texts from at on that fit in one frame, at least one.
func (y *tally) batch(at int) int {
	room, most := y.d.turn.config.frame()/2, y.d.turn.config.array()
	end := at
	for end < len(y.texts) && end-at < most {
		if room -= len(y.texts[end]) + 8; room < 0 && end > at {
			break
		}
		end++
	}
	return end
}

func (y *tally) tokens(task Task, texts [][]byte, exact bool) ([]int64, error) {
	var failure error
	if exact {
		e := &Estimate{Context: y.d.number, Encoding: y.encoding, Texts: texts}
		if _, failure = task.Await(e); failure == nil {
			return e.Tokens, nil
		} else if y.d.aborted {
			return nil, failure
		}
	}
	tokens := make([]int64, len(texts))
	for i, text := range texts {
		tokens[i] = int64(tokensByLength(y.encoding, utf16Length(text)))
	}
	if y.encoding != claude {
		y.d.warnEstimate(y.encoding, clipUnits(texts[0], previewUnits), failure)
	}
	return tokens, nil
}

// previewUnits is the length, in UTF-16 code units, of the preview in a warning.
const previewUnits = 80

// tokensByLength estimates the tokens of a text from its length in UTF-16 code units.
func tokensByLength(encoding string, units uint64) uint64 {
	if encoding == claude {
		return (units*2 + 6) / 7 // 3.5 units per token
	}
	return (units + 3) / 4
}

// warnEstimate warns, once per encoding, that it has no tokenizer or that the tokenizer failed. preview is the
// beginning of the text.
func (d *Dispatch) warnEstimate(encoding string, preview []byte, failure error) {
	why := "there is no tokenizer for " + encoding
	if failure != nil {
		why = "the tokenizer for " + encoding + " failed"
	}
	payload := value.AppendString(value.AppendMapHeader(nil, 2), "encoding")
	payload = value.AppendString(value.AppendString(payload, encoding), "textPreview")
	d.turn.Warn(d.number, encoding, &WarningEvent{
		Kind: "token-estimation-degraded", Message: why + ": tokens are estimated from the length of the text", Payload: value.AppendText(payload, preview), Err: failure,
	})
}

// utf16Length is the length of text in UTF-16 code units.
func utf16Length(text []byte) (units uint64) {
	for _, c := range text {
		if c < 0x80 || c >= 0xc0 {
			units++
		}
		if c >= 0xf0 {
			units++ // a surrogate pair
		}
	}
	return units
}

// clipUnits cuts text to n UTF-16 code units.
func clipUnits(text []byte, n int) []byte {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		n--
		if r > 0xffff {
			n--
		}
		if n < 0 {
			return text[:i]
		}
		i += size
	}
	return text
}
