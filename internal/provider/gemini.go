package provider

import (
	"bytes"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
)

// Gemini speaks generateContent and streamGenerateContent of Google's Gemini API.
//
//   - Options have the API's own names. Those that belong in generationConfig are put there.
//   - Thought signatures go back in the parts that they came in: calls, thoughts and the end of a text.
//   - A call's result names the call by its function, and by its id where the API gave one.
//   - Media are parts of a user's content; those of a tool's result follow it in one, as results are texts here.
//   - A blocked prompt, and an answer that a filter stopped, are errors: what was said up to it is no answer.
var Gemini chat.Provider = gemini{}

type gemini struct{}

var geminiProtocol = chat.Protocol{
	Name: geminiName, BaseURL: geminiBaseURL, Close: "]}", Members: geminiMembers,
	Reserved:  []string{"contents", "model", "systemInstruction", "tools"},
	OfTools:   []string{"name", "description", "parameters", "parametersJsonSchema"},
	WithTools: []string{"toolConfig"},
	Reasoning: "gemini-thought-signature-v1", InParts: true,
	Media: geminiMedia, SchemaAlone: true,
	Files: func(_, uri string) bool { return strings.Contains(uri, "://") },
}

func (gemini) Protocol() chat.Protocol { return geminiProtocol }

// isConfig reports whether a member of a request goes into generationConfig.
func isConfig(name []byte) bool {
	for i := range geminiMembers[:geminiGenerationConfig] {
		if geminiMembers[i].Name == string(name) {
			return true
		}
	}
	return false
}

func geminiMedia(kind, mimeType string) bool {
	switch kind {
	case "image":
		return isImage(mimeType) && mimeType != "image/gif" || mimeType == "image/heic" || mimeType == "image/heif"
	case "document":
		return mimeType == pdf || bytes.HasPrefix([]byte(mimeType), []byte("text/"))
	}
	return bytes.HasPrefix([]byte(mimeType), append([]byte(kind), '/')) // all usual sounds and videos
}

// Path names the model: alone, or with what it is a part of, such as tunedModels/NAME.
func (gemini) Path(model string, stream bool) string {
	path := []byte("/")
	if !bytes.Contains([]byte(model), []byte("/")) {
		path = append(path, "models/"...)
	}
	const hex = "0123456789ABCDEF"
	for _, c := range []byte(model) {
		if c == '/' || c == '.' || c == '~' || c == ':' || bytes.Equal(plainName([]byte{c}, ""), []byte{c}) {
			path = append(path, c)
		} else {
			path = append(path, '%', hex[c>>4], hex[c&15])
		}
	}
	if stream {
		return string(append(path, ":streamGenerateContent?alt=sse"...))
	}
	return string(append(path, ":generateContent"...))
}

// AppendTool gives the schema as JSON Schema: the other way, parameters, takes a few keywords only and refuses the
// rest.
func (gemini) AppendTool(dst []byte, t *runtime.Tool, extras []byte) []byte {
	dst = value.AppendJSONString(append(dst, `{"name":`...), t.Name)
	dst = value.AppendJSONString(append(dst, `,"description":`...), t.Description)
	dst = appendSchema(append(dst, `,"parametersJsonSchema":`...), t.InputSchema)
	return append(append(dst, extras...), '}')
}

func (gemini) AppendHead(dst []byte, h *chat.Head) []byte {
	dst = append(dst, '{')
	if len(bytes.TrimSpace(h.System)) > 0 {
		dst = value.AppendJSONText(append(dst, `"systemInstruction":{"parts":[{"text":`...), h.System)
		dst = append(dst, `}]},`...)
	}
	if len(h.Tools) > 0 {
		dst = append(append(append(dst, `"tools":[{"functionDeclarations":[`...), h.Tools...), `]}]`...)
		dst = append(append(dst, h.ToolOnly...), ',')
	}
	var config []byte
	chat.EachMember(h.Members, func(name, text []byte) {
		switch {
		case string(name) == "generationConfig":
			s := value.NewScanner(text)
			for key := range s.Members() {
				if inner := bytes.Clone(key); !h.Has(string(inner)) { // an option of its own takes the place
					config = appendRaw(config, inner, s.Raw())
				}
			}
		case isConfig(name):
			config = appendRaw(config, name, text)
		default:
			dst = append(append(value.AppendJSONText(dst, name), ':'), text...)
			dst = append(dst, ',')
		}
	})
	if len(h.Schema) > 0 {
		config = append(append(config, `,"responseMimeType":"application/json","responseJsonSchema":`...), h.Schema...)
	}
	if len(config) > 0 {
		dst = append(append(append(dst, `"generationConfig":{`...), config[1:]...), `},`...)
	}
	return append(dst, `"contents":[`...)
}

// AppendUnit leaves out what has no parts.
func (gemini) AppendUnit(dst []byte, u *chat.Unit) []byte {
	blank := len(bytes.TrimSpace(u.Text)) == 0
	switch {
	case blank && len(u.Calls)+len(u.Media) == 0:
		return dst
	case !u.Assistant && len(u.Media) > 0:
		dst = append(chat.AppendComma(dst), `{"role":"user"`...)
		return append(appendGeminiParts(dst, said(u), u.Media), '}')
	case !u.Assistant:
		dst = append(chat.AppendComma(dst), `{"role":"user","parts":[{`...)
		return append(chat.AppendMember(dst, "text", said(u)), `}]}`...)
	}
	dst = append(chat.AppendComma(appendOpening(dst, `{"role":"user","parts":[{"text":"."}]}`)), `{"role":"model","parts":[`...)
	var ofText, behind []byte // signatures
	for _, t := range u.Thoughts {
		signature, _ := value.GetString(t.Payload, signatureOf)
		switch part, _ := value.GetString(t.Payload, "part"); {
		case len(signature) == 0:
		case string(part) == partText:
			ofText = signature
		case string(part) == partEnd:
			behind = signature
		default:
			dst = chat.AppendMember(append(chat.AppendComma(dst), '{'), "text", t.Text)
			dst = append(appendSignature(append(dst, `,"thought":true`...), signature), '}')
		}
	}
	if !blank {
		dst = chat.AppendMember(append(chat.AppendComma(dst), '{'), "text", said(u))
		dst = append(appendSignature(dst, ofText), '}')
	}
	if behind != nil {
		dst = append(appendSignature(append(chat.AppendComma(dst), `{"text":""`...), behind), '}')
	}
	for _, c := range u.Calls {
		dst = appendFunction(append(chat.AppendComma(dst), `{"functionCall":{`...), c)
		dst = append(append(append(dst, `,"args":`...), c.Args...), '}')
		signature, _ := value.GetString(c.Extra, signatureOf)
		dst = append(appendSignature(dst, signature), '}')
	}
	dst = append(dst, `]}`...)
	for i, c := range u.Calls {
		if i == 0 {
			dst = append(dst, `,{"role":"user","parts":[`...)
		}
		dst = appendFunction(append(chat.AppendComma(dst), `{"functionResponse":{`...), c)
		key := "output"
		if c.IsError {
			key = "error"
		}
		dst = append(chat.AppendMember(append(dst, `,"response":{`...), key, withNotes(c.Result, c.Media)), `}}}`...)
	}
	if len(u.Calls) > 0 {
		dst = append(dst, `]}`...)
	}
	if media := ofResults(u.Calls); len(media) > 0 {
		dst = append(appendGeminiParts(append(dst, `,{"role":"user"`...), []byte(introduction), media), '}')
	}
	return dst
}

// appendGeminiParts appends the member parts with a text, unless it is blank, and media.
func appendGeminiParts(dst, text []byte, media []*chat.UnitMedia) []byte {
	dst = append(dst, `,"parts":[`...)
	if len(bytes.TrimSpace(text)) > 0 {
		dst = append(chat.AppendMember(append(dst, '{'), "text", text), '}')
	}
	for _, m := range media {
		dst = append(chat.AppendMember(append(chat.AppendComma(dst), '{'), "text", m.Note), `},{`...)
		if m.URI != nil {
			dst = chat.AppendMember(append(dst, `"fileData":{`...), "mimeType", m.MimeType)
			dst = append(chat.AppendMember(dst, "fileUri", m.URI), `}}`...)
			continue
		}
		dst = append(dst, `"inlineData":{`...)
		dst = m.AppendData(append(chat.AppendMember(dst, "mimeType", m.MimeType), `,"data":"`...))
		dst = append(dst, `"}}`...)
	}
	return append(dst, ']')
}

// What the API must get back is kept by these names, and with a signature that stands in no call what part it stood in.
const (
	signatureOf = "thoughtSignature"
	functionID  = "functionId"
	partThought = "thought"
	partText    = "text"
	partEnd     = "end" // an empty text at the end
)

func appendSignature(dst, signature []byte) []byte {
	if len(signature) == 0 {
		return dst
	}
	return chat.AppendMember(dst, signatureOf, signature)
}

// appendFunction appends what names a call.
func appendFunction(dst []byte, c chat.UnitCall) []byte {
	if id, ok := value.GetString(c.Extra, functionID); ok {
		dst = chat.AppendMember(dst, "id", id)
	}
	return chat.AppendMember(dst, "name", plainName(c.Name, ".:"))
}

func (gemini) Read(a *chat.Answer, _ []byte, s *value.Scanner) {
	for key := range s.Members() {
		switch string(key) {
		case "candidates":
			for i := range s.Items() {
				if i == 0 {
					readCandidate(a, s)
				}
			}
		case "promptFeedback":
			readFeedback(a, s)
		case "usageMetadata":
			a.Usage(s)
		case "modelVersion":
			a.Model(s)
		case "error":
			a.Fail(s)
		default:
			a.Noise(s)
		}
	}
}

// readFeedback reads why a prompt was blocked.
func readFeedback(a *chat.Answer, s *value.Scanner) {
	var reason, message []byte
	for key := range s.Members() {
		switch string(key) {
		case "blockReason":
			reason, _ = s.AppendText(nil)
		case "blockReasonMessage":
			message, _ = s.AppendText(nil)
		}
	}
	if len(reason) > 0 {
		a.Refuse(reason, message)
	}
}

func readCandidate(a *chat.Answer, s *value.Scanner) {
	var reason, message []byte
	for key := range s.Members() {
		switch string(key) {
		case "content":
			for key := range s.Members() {
				if string(key) == "parts" {
					for range s.Items() {
						readGeminiPart(a, s)
					}
				}
			}
		case "finishReason":
			reason, _ = s.AppendText(nil)
		case "finishMessage":
			message, _ = s.AppendText(nil)
		}
	}
	a.Finish(reason, string(reason) == "STOP")
	switch string(reason) {
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		a.Refuse(reason, message)
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE":
		a.FailWith(reason, message)
	}
}

// Thoughts of an answer are one; a signature of its text is kept in another one.
const (
	thoughtSource   = chat.Block
	signatureSource = chat.Block + 1
)

func readGeminiPart(a *chat.Answer, s *value.Scanner) {
	var text, call, signature []byte // text and call are JSON
	thought := false
	for key := range s.Members() {
		switch string(key) {
		case "text":
			text = s.Raw()
		case "thought":
			thought, _ = s.Bool()
		case "thoughtSignature":
			signature, _ = s.AppendText(nil)
		case "functionCall":
			call = s.Raw()
		}
	}
	if call != nil {
		readFunctionCall(a, call, signature)
		return
	}
	if text == nil {
		return
	}
	inner := value.NewScanner(text)
	words, _ := inner.Text()
	// A model's turn is one content, so what it thinks and signs must stand before what it says.
	a.BeginThought(thoughtSource)
	source, part := thoughtSource, partThought
	switch {
	case thought:
		a.Thought(thoughtSource, words)
	case len(words) > 0:
		a.BeginThought(signatureSource)
		a.Text(words)
		source, part = signatureSource, partText
	default:
		source, part = signatureSource, partEnd
	}
	if len(signature) > 0 {
		payload := value.AppendString(value.AppendString(value.AppendMapHeader(nil, 2), "part"), part)
		a.ThoughtPayload(source, value.AppendText(value.AppendString(payload, signatureOf), signature))
	}
}

// readFunctionCall reads a call, which comes whole.
func readFunctionCall(a *chat.Answer, text, signature []byte) {
	c := a.NewCall()
	s := value.NewScanner(text)
	for key := range s.Members() {
		switch string(key) {
		case "id":
			c.ID, _ = s.AppendText(c.ID)
		case "name":
			c.Name, _ = s.AppendText(c.Name)
		case "args":
			if s.Kind() == value.KindMap {
				c.Args = append(c.Args, s.Raw()...)
			}
		}
	}
	var extra []byte
	n := 0
	for _, e := range [...]struct {
		key  string
		text []byte
	}{{functionID, c.ID}, {signatureOf, signature}} {
		if len(e.text) > 0 {
			extra, n = value.AppendText(value.AppendString(extra, e.key), e.text), n+1
		}
	}
	if n > 0 {
		c.Extra = append(value.AppendMapHeader(c.Extra, n), extra...)
	}
	a.Call(c)
}

func (gemini) Usage(usage []byte) chat.Usage {
	sum := func(name, more string) int64 {
		n, m := chat.Count(usage, name), chat.Count(usage, more)
		if n < 0 && m < 0 {
			return -1
		}
		return max(n, 0) + max(m, 0)
	}
	return chat.Usage{
		Prompt: sum("promptTokenCount", "toolUsePromptTokenCount"), Completion: sum("candidatesTokenCount", "thoughtsTokenCount"),
		Total: chat.Count(usage, "totalTokenCount"), Cached: chat.Count(usage, "cachedContentTokenCount"),
		Reasoning: chat.Count(usage, "thoughtsTokenCount"),
	}
}
