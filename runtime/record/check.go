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
	layout := layouts[kind]
	count, rest := tuple(body)
	if count != len(layout) {
		return fault.New(codes[kind], "the body is malformed")
	}
	var wrong []string
	wordless := false // a message without content
	for i := range layout {
		size := plain(rest)
		if size == 0 {
			after, err := value.Skip(rest, value.MaxDepth)
			if err != nil {
				return fault.New(codes[kind], "the body is malformed")
			}
			size = len(rest) - len(after)
		}
		if !layout[i].rule.holds(rest) {
			wrong = layout[i].add(wrong, rest[:size])
		} else if rest[0] == 0xc0 && layout[i].rule == optionalProse {
			wordless = true
		}
		rest = rest[size:]
	}
	if len(rest) != 0 {
		return fault.New(codes[kind], "the body is malformed")
	}
	switch kind {
	case Thoughts:
		t := Thought(body)
		wrong = checkPayload(wrong, t.Payload(), t.ReplayCompatibility())
		if t.Payload() == nil && len(t.Content()) == 0 && isText(field(t, 1)) {
			wrong = append(wrong, "`content` must be a non-empty string when `payload` is not given")
		}
	case Messages:
		if wordless && Message(body).Attachments() == nil {
			wrong = append(wrong, "`content` or `attachments` is required")
		}
	case ToolCalls:
		t := ToolCall(body)
		wrong = checkPayload(wrong, t.Payload(), t.ReplayCompatibility())
	}
	if wrong == nil {
		return nil
	}
	return fault.New(codes[kind], wrong...)
}

// plain returns the length of the value at the start of v if it is of a common kind: null, a boolean, a number, or a
// string of less than 256 bytes. It is 0 for all others, and for a truncated value.
func plain(v []byte) int {
	if len(v) == 0 {
		return 0
	}
	size := 1
	switch c := v[0]; {
	case c < 0x80 || c == 0xc0 || c == 0xc2 || c == 0xc3:
	case c >= 0xa0 && c < 0xc0:
		size += int(c & 31)
	case c == 0xcf || c == 0xcb:
		size = 9
	case c == 0xd9 && len(v) > 1:
		size = 2 + int(v[1])
	default:
		return 0
	}
	if size > len(v) {
		return 0
	}
	return size
}

// holds reports whether the first bytes of a well-formed value prove that it is valid. If not, check decides.
func (r rule) holds(v []byte) bool {
	switch c := v[0]; r {
	case requiredText, prose, content:
		return c > 0xa0 && c < 0xc0
	case result:
		return c >= 0xa0 && c < 0xc0
	case instant:
		return c == 0xcf && v[1] == 0 && v[2] < maxTime>>48
	case flag:
		return c == 0xc2 || c == 0xc3
	case optionalText, optionalProse:
		return c == 0xc0 || c > 0xa0 && c < 0xc0
	case speaker, media:
		return c == 0xc0
	case arguments:
		return c >= 0x80 && c < 0x90
	case anything:
		return true
	}
	return false
}

func checkPayload(wrong []string, payload, compatibility []byte) []string {
	if payload != nil && compatibility == nil {
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
