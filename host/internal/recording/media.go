package recording

import (
	"encoding/base64"
	"encoding/hex"
	"maps"
	"path"
	"regexp"
	"strings"
)

// Media is a part of a message that is not text: an image, a sound, a video or a document, or a part of another type.
type Media struct {
	Kind     string // image, audio, video or document
	MimeType string
	Filename string // never empty
	Data     []byte // its bytes, or what the part says in their place: an address, or the part in JSON
	Source   string // the address where there are no bytes; "" for none
}

// kindsOfParts are the kinds of media by the types of parts.
var kindsOfParts = map[string]string{
	"image_url": "image", "input_audio": "audio", "audio_url": "audio", "video_url": "video", "file": "document", "document_url": "document",
}

// addressMembers are the members of a media's part that hold its bytes, or say where they are.
var addressMembers = []string{"url", "data", "file_data"}

// isMedia tells whether a part of a content is to become a media.
func isMedia(part any) bool {
	m, ok := part.(map[string]any)
	if _, isText := m["text"].(string); !ok || isText {
		return false
	}
	switch m["type"] {
	case "thinking", "reasoning", "refusal":
		return false
	}
	return true
}

// normalMedia brings a media's part into the form that is compared: kind and mimeType with data, which is its bytes in
// base64, or kind with url. What else the part says stays; everything else is the member part.
func normalMedia(part map[string]any) map[string]any {
	kind, _ := part["type"].(string)
	out := map[string]any{}
	address, has := part[kind].(string)
	inner, isObject := part[kind].(map[string]any)
	if kindsOfParts[kind] == "" || !has && !isObject {
		return map[string]any{"kind": "document", "part": part}
	}
	for key, v := range part {
		if key != "type" && key != kind {
			out[key] = v
		}
	}
	maps.Copy(out, inner)
	for _, key := range addressMembers {
		if s, ok := inner[key].(string); ok {
			address = s
			delete(out, key)
			break
		}
	}
	for _, key := range [...]string{"kind", "mimeType", "data", "url"} {
		if out[key] != nil {
			return map[string]any{"kind": "document", "part": part} // they are ours
		}
	}
	out["kind"] = kindsOfParts[kind]
	if out["detail"] == "auto" {
		delete(out, "detail") // which it is by default
	}
	mimeType, data, ok := dataURL(address)
	if format, _ := out["format"].(string); kind == "input_audio" && format != "" {
		if mimeType = "audio/" + strings.ToLower(format); !ok {
			data, ok = decodeBase64(address)
		}
	}
	switch {
	case ok:
		delete(out, "format")
		out["mimeType"], out["data"] = plainType(mimeType), base64.StdEncoding.EncodeToString(data)
	case address != "":
		out["url"] = address
	}
	return out
}

// isSent tells whether the executor sends a media of a user's message, which is in the form that is compared.
func isSent(media map[string]any) bool {
	_, hasData := media["data"].(string)
	switch media["mimeType"] {
	case "image/png", "image/jpeg", "image/webp", "image/gif":
		return hasData && media["kind"] == "image"
	case "audio/wav", "audio/mpeg":
		return hasData && media["kind"] == "audio"
	case "application/pdf":
		return hasData && media["kind"] == "document"
	}
	return false
}

// readMedia reads a part that is a media.
func readMedia(part map[string]any) Media {
	normal := normalMedia(part)
	m := Media{}
	m.Kind, _ = normal["kind"].(string)
	m.Filename, _ = normal["filename"].(string)
	if data, ok := normal["data"].(string); ok {
		m.MimeType, _ = normal["mimeType"].(string)
		m.Data, _ = base64.StdEncoding.DecodeString(data) // was encoded there
	} else if m.Source, _ = normal["url"].(string); m.Source != "" {
		m.MimeType, m.Data = "text/uri-list", []byte(m.Source)
		if place, _, _ := strings.Cut(m.Source, "?"); m.Filename == "" && !strings.HasSuffix(place, "/") {
			m.Filename = path.Base(place)
		}
	} else {
		m.MimeType, m.Data = "application/json", text(part)
	}
	if strings.TrimSpace(m.Filename) == "" {
		m.Filename = m.Kind
	}
	return m
}

// typeNames are names of types that have others.
var typeNames = map[string]string{
	"image/jpg": "image/jpeg", "audio/mp3": "audio/mpeg", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav", "audio/vnd.wave": "audio/wav",
	"": "text/plain",
}

// plainType is a MIME type without parameters, in lower case, by the name that most have for it.
func plainType(mimeType string) string {
	mimeType, _, _ = strings.Cut(mimeType, ";")
	mimeType = strings.ToLower(strings.TrimSpace(mimeType))
	if name := typeNames[mimeType]; name != "" {
		return name
	}
	return mimeType
}

// dataURL reads a URL that holds the data itself.
func dataURL(url string) (mimeType string, data []byte, ok bool) {
	if len(url) < 5 || !strings.EqualFold(url[:5], "data:") {
		return "", nil, false
	}
	head, rest, ok := strings.Cut(url[5:], ",")
	if !ok {
		return "", nil, false
	}
	data = unescaped(rest)
	if n := len(head) - len(";base64"); n >= 0 && strings.EqualFold(head[n:], ";base64") {
		data, ok = decodeBase64(string(data))
		head = head[:n]
	}
	return head, data, ok
}

// unescaped are the bytes of a text with percent signs.
func unescaped(text string) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if b, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				out = append(out, b...)
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return out
}

// base64Text is base64 without padding, in the usual alphabet.
var base64Text = regexp.MustCompile(`^[A-Za-z0-9+/]*$`)

// decodeBase64 reads base64 in either alphabet, with or without padding, and with white space in it.
func decodeBase64(text string) (data []byte, ok bool) {
	text = strings.TrimRight(strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "", "-", "+", "_", "/").Replace(text), "=")
	if !base64Text.MatchString(text) {
		return nil, false
	}
	data, err := base64.RawStdEncoding.DecodeString(text)
	return data, err == nil
}
