package runtime

import (
	"slices"
	"unicode/utf8"

	"github.com/turncore/turncore/runtime/value"
)

// tokens estimates how many tokens the artifact's text has: by the host's tokenizer for the encoding, or else by its
// length.
func (r *reader) tokens(encoding string) (uint64, error) {
	if slices.Contains(r.d.turn.config.Encodings, encoding) {
		e := &Estimate{Context: r.d.number, Encoding: encoding, Handle: r.source.handle, Part: r.source.part}
		_, err := r.task.Await(e)
		return e.Tokens, err
	}
	units := uint64(0)
	var preview []byte
	count, err := r.lines(0, maxLine, func(i uint64, line []byte) bool {
		if i == 0 {
			preview = append(preview, clipUnits(line, 80)...)
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
	if encoding != "claude" {
		r.d.warnEstimate(encoding, preview)
	}
	return tokensByLength(encoding, units), nil
}

// tokensByLength estimates how many tokens a text of so many UTF-16 code units has.
func tokensByLength(encoding string, units uint64) uint64 {
	if encoding == "claude" {
		return (units*2 + 6) / 7 // 3.5 to the token
	}
	return (units + 3) / 4
}

// warnEstimate says, once for an encoding, that there is no tokenizer for it. preview is the beginning of the text.
func (d *Dispatch) warnEstimate(encoding string, preview []byte) {
	payload := value.AppendString(value.AppendMapHeader(nil, 2), "encoding")
	payload = value.AppendString(value.AppendString(payload, encoding), "textPreview")
	d.warn("token-estimation-degraded", encoding, "there is no tokenizer for "+encoding+": tokens are estimated from the length of the text", value.AppendText(payload, preview))
}

// utf16Length is how many UTF-16 code units text takes.
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
