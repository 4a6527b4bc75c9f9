package record

import (
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

// maxTime is the largest absolute time, in ms, that an ECMAScript Date can hold.
const maxTime = 8_640_000_000_000_000

// rule is the rule for a field.
type rule uint8

const (
	requiredText  rule = iota // a non-empty string
	optionalText              // null, or a non-empty string
	prose                     // non-empty text
	optionalProse             // null, or non-empty text
	blankText                 // text, possibly empty
	flag                      // bool
	instant                   // a time
	portion                   // a number from 0 to 1
	optionalPortion
	arguments // a map
	result    // text, a part, or a list of parts
	content   // non-empty text, or a part
	media     // null, or a list of media
	anything
	speaker // null, or the two parts of an identity
	role
	tier
	size // a number of bytes or lines, -1 if unknown
	form
	mediaKind
	hazard
	mediaStash
)

type fieldRule struct {
	name string
	rule rule
}

var layouts = [Kinds][]fieldRule{
	Messages: {
		{"id", requiredText},
		{"role", role},
		{"content", optionalProse},
		{"identity", speaker},
		{"createdAt", instant},
		{"updatedAt", instant},
		{"attachments", media},
	},
	Memories: {
		{"id", requiredText},
		{"content", prose},
		{"confidence", portion},
		{"importance", portion},
		{"createdAt", instant},
		{"updatedAt", instant},
	},
	Thoughts: {
		{"id", requiredText},
		{"content", blankText},
		{"identity", speaker},
		{"payload", anything},
		{"replayCompatibility", optionalText},
		{"createdAt", instant},
		{"updatedAt", instant},
	},
	ToolCalls: {
		{"id", requiredText},
		{"tool", requiredText},
		{"args", arguments},
		{"checksum", requiredText},
		{"executionId", optionalText},
		{"providerCallId", optionalText},
		{"isComplete", flag},
		{"isError", flag},
		{"results", result},
		{"payload", anything},
		{"replayCompatibility", optionalText},
		{"fromArtifactTool", flag},
		{"inline", flag},
		{"createdAt", instant},
		{"updatedAt", instant},
		{"completedAt", instant},
	},
	Retrievables: {
		{"id", requiredText},
		{"content", content},
		{"trustTier", tier},
		{"source", optionalText},
		{"kind", optionalText},
		{"score", optionalPortion},
		{"inline", flag},
		{"createdAt", instant},
		{"updatedAt", instant},
	},
}

var codes = [Kinds]fault.Code{
	Messages:     fault.InvalidInitialMessageValue,
	Memories:     fault.InvalidInitialMemoryValue,
	Thoughts:     fault.InvalidInitialThoughtValue,
	ToolCalls:    fault.InvalidInitialToolCallValue,
	Retrievables: fault.InvalidInitialRetrievableValue,
}

// Check reports whether body is a valid body of that kind. The error has the kind's code, such as
// E_INVALID_INITIAL_MESSAGE_VALUE, and describes each invalid field. An instruction must be non-empty text; otherwise
// the error is E_INVALID_VALUE.
func Check(kind Kind, body []byte) error {
	if kind == Instructions || kind >= Kinds {
		if kind == Instructions && isText(body) && value.Len(body) > 0 && value.Check(body) == nil {
			return nil
		}
		return fault.New(fault.InvalidValue, "`instruction` must be a non-empty string")
	}
	size, err := check(kind, body, value.MaxDepth)
	if size > 0 && size != len(body) {
		return malformed(kind)
	}
	return err
}

// CheckFirst returns the length of the body that data starts with, if it is a valid one of that kind; 0 if not. It
// reads the body once.
func CheckFirst(kind Kind, data []byte) int {
	if kind == Instructions || kind >= Kinds {
		return 0
	}
	size, err := check(kind, data, value.MaxDepth-1) // the body itself is one level
	if err != nil {
		return 0
	}
	return size
}

// check is Check for the body that data starts with, whose fields nest at most depth levels. The size is that of a
// well-formed body, even if a field is invalid.
func check(kind Kind, data []byte, depth int) (size int, err error) {
	layout := layouts[kind]
	count, rest := tuple(data)
	if count != len(layout) {
		return 0, malformed(kind)
	}
	var wrong []string
	wordless, opaque := false, false // a message without content, a payload
	i := len(data) - len(rest)
	for k := 0; ; k++ {
		if k, i = proven(layout, k, data, i); k == len(layout) {
			break
		}
		after, err := value.Skip(data[i:], depth)
		if err != nil {
			return 0, malformed(kind)
		}
		f, v := &layout[k], data[i:len(data)-len(after)]
		wrong = f.add(wrong, v)
		wordless = wordless || f.rule == optionalProse && v[0] == 0xc0
		opaque = opaque || f.rule == anything
		i += len(v)
	}
	body := data[:i]
	switch kind {
	case Thoughts:
		t := Thought(body)
		if opaque {
			wrong = checkPayload(wrong, t.ReplayCompatibility())
		} else if len(t.Content()) == 0 && isText(field(t, 1)) {
			wrong = append(wrong, "`content` must be a non-empty string when `payload` is not given")
		}
	case Messages:
		if wordless && Message(body).Attachments() == nil {
			wrong = append(wrong, "`content` or `attachments` is required")
		}
	case ToolCalls:
		if opaque {
			wrong = checkPayload(wrong, ToolCall(body).ReplayCompatibility())
		}
	}
	if wrong == nil {
		return i, nil
	}
	return i, fault.New(codes[kind], wrong...)
}

func malformed(kind Kind) error { return fault.New(codes[kind], "the body is malformed") }

// proof is what the first bytes of a value prove: one bit each, so that a rule can allow some.
type proof uint8

const (
	null proof = 1 << iota
	truth
	emptyText
	someText
	time
)

// proofs are, by rule, what proves that a value is valid. All other values need a closer look.
var proofs = [...]proof{
	requiredText:  someText,
	optionalText:  null | someText,
	prose:         someText,
	optionalProse: someText,
	blankText:     emptyText | someText,
	flag:          truth,
	instant:       time,
	result:        emptyText | someText,
	content:       someText,
	media:         null,
	anything:      null,
	speaker:       null,
	mediaStash:    0, // the last rule
}

// proven passes over the fields from the k-th on, the first of which is data[i:], up to one that its first bytes do not
// prove to be valid. Nothing in the loop is a call, so that the compiler keeps its variables in registers.
func proven(layout []fieldRule, k int, data []byte, i int) (int, int) {
	for ; k < len(layout) && i < len(data); k++ {
		var is proof
		end := i + 1
		switch c := data[i]; {
		case c > 0xa0 && c < 0xc0:
			is, end = someText, end+int(c&31)
		case c == 0xc0:
			is = null
		case c == 0xc2 || c == 0xc3:
			is = truth
		case c == 0xcf && i+2 < len(data) && data[i+1] == 0 && data[i+2] < maxTime>>48:
			is, end = time, end+8
		case c == 0xd9 && end < len(data) && data[end] > 0:
			is, end = someText, end+1+int(data[end])
		case c == 0xa0:
			is = emptyText
		}
		if is&proofs[layout[k].rule] == 0 || end > len(data) {
			break
		}
		i = end
	}
	return k, i
}

func checkPayload(wrong []string, compatibility []byte) []string {
	if compatibility == nil {
		return append(wrong, "`replayCompatibility` is required when `payload` is given")
	}
	return wrong
}

func isText(v []byte) bool { return value.KindOf(v) == value.KindString }

// add adds the fault of a field's value, which is well-formed, in the words of the hosts' table of rules.
func (f *fieldRule) add(wrong []string, v []byte) []string {
	if n, _ := tuple(v); f.rule == speaker && n == 2 {
		for i, part := range [...]fieldRule{{"identifier", requiredText}, {"representation", prose}} {
			if problem := part.check(field(v, i)); problem != "" {
				wrong = append(wrong, violation(f.name, "`"+part.name+"` "+problem))
			}
		}
		return wrong
	}
	if problem := f.check(v); problem != "" {
		wrong = append(wrong, violation(f.name, problem))
	}
	return wrong
}

// violation names the field with the problem. A problem that begins with an index, or with a field, is about that part
// of the field's value.
func violation(path, problem string) string {
	for problem != "" && (problem[0] == '[' || problem[0] == '`') {
		if problem[0] == '[' {
			place, rest, _ := strings.Cut(problem, " ")
			path, problem = path+place, rest
			continue
		}
		name, rest, _ := strings.Cut(problem[1:], "` ")
		path, problem = path+"."+name, rest
	}
	return "`" + path + "` " + problem
}

// check describes the fault of a field's value, which is well-formed; "" for none.
func (f *fieldRule) check(v []byte) string {
	null := v[0] == 0xc0
	switch f.rule {
	case anything:
		return ""
	case optionalText, optionalProse, optionalPortion, speaker, media, mediaStash:
		if null {
			return ""
		}
	default:
		if null {
			return "is required"
		}
	}
	switch f.rule {
	case requiredText, optionalText, role, tier, mediaKind, hazard, form:
		if !isText(v) {
			return "must be a string"
		}
	case prose, optionalProse, blankText:
		if !isText(v) {
			return "must be a string or a Tokenizable"
		}
	case portion, optionalPortion:
		if _, ok := value.Number(v); !ok {
			return "must be a number"
		}
	}
	switch f.rule {
	case requiredText, optionalText, prose, optionalProse:
		if value.Len(v) == 0 {
			return "must be a non-empty string"
		}
	case flag:
		if value.KindOf(v) != value.KindBool {
			return "must be a boolean"
		}
	case instant:
		if n, ok := value.Int(v); !ok || n > maxTime || n < -maxTime {
			return "must be a date, an ISO 8601 string or a number of milliseconds"
		}
	case portion, optionalPortion:
		if n, _ := value.Number(v); !(n >= 0 && n <= 1) {
			return "must be between 0 and 1"
		}
	case arguments:
		if value.KindOf(v) != value.KindMap {
			return "must be an object, or the JSON text of one"
		}
	case speaker:
		return "must be a string, an Identity or an object with identifier and representation"
	case role, tier, form, mediaKind, hazard:
		return checkWord(f.rule, text(v))
	case result:
		return checkResults(v)
	case content:
		return checkContent(v)
	case media:
		return checkParts(v, MediaPart)
	case size:
		if n, ok := value.Int(v); !ok || n < -1 {
			return "must be a number from 0 on, or -1 if unknown"
		}
	case mediaStash:
		return checkStash(v)
	}
	return ""
}

var words = [...][]string{
	role:      {"user", "assistant"},
	tier:      {"first-party", "third-party-public", "third-party-private"},
	form:      {"json", "jsonl", "ndjson", "json5"},
	mediaKind: {"image", "audio", "video", "document"},
	hazard:    {"inert", "extractable-instructions", "opaque-perceptual"},
}

// checkWord describes the fault of a text that must be one of a rule's words. An empty form means unknown.
func checkWord(r rule, text []byte) string {
	if slices.Contains(words[r], string(text)) || r == form && len(text) == 0 {
		return ""
	}
	return `must be one of "` + strings.Join(words[r], `", "`) + `"`
}

func digits(n int) string { return strconv.Itoa(n) }
