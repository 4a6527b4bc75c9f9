package provider

import (
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/chat"
)

// isImage tells whether a MIME type is of an image that all models with eyes take.
func isImage(mimeType string) bool {
	switch mimeType {
	case "image/png", "image/jpeg", "image/webp", "image/gif":
		return true
	}
	return false
}

const pdf = "application/pdf"

// audioFormat is what OpenAI's protocol calls the format of a sound.
func audioFormat(mimeType string) string {
	switch mimeType {
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		return "wav"
	case "audio/mpeg", "audio/mp3":
		return "mp3"
	}
	_, format, _ := strings.Cut(mimeType, "/")
	return strings.TrimPrefix(format, "x-")
}

// appendTextPart appends an object of a type with a text, unless the text is empty.
func appendTextPart(dst []byte, kind string, text []byte) []byte {
	if len(text) == 0 {
		return dst
	}
	dst = append(append(append(chat.AppendComma(dst), `{"type":"`...), kind...), '"')
	return append(chat.AppendMember(dst, "text", text), '}')
}

// isURL tells whether the address of a file is one of the web.
func isURL(uri string) bool {
	return strings.HasPrefix(uri, "https://") || strings.HasPrefix(uri, "http://")
}

// isFileID tells whether the address of a file is an id that OpenAI's API has given it.
func isFileID(uri string) bool {
	return strings.HasPrefix(uri, "file-") || strings.HasPrefix(uri, "file_")
}

// appendDataURI appends the data URI of a media, or its own address, as a string.
func appendDataURI(dst []byte, m *chat.UnitMedia) []byte {
	if m.URI != nil {
		return value.AppendJSONText(dst, m.URI)
	}
	dst = append(append(append(dst, `"data:`...), m.MimeType...), `;base64,`...)
	return append(m.AppendData(dst), '"')
}

// appendParts appends a text and media as the content of OpenAI's chat completions has them.
func appendParts(dst, text []byte, media []*chat.UnitMedia) []byte {
	dst = appendTextPart(append(dst, '['), "text", text)
	for _, m := range media {
		dst = append(appendTextPart(dst, "text", m.Note), ',')
		switch m.Kind {
		case "image":
			dst = append(appendDataURI(append(dst, `{"type":"image_url","image_url":{"url":`...), m), `}}`...)
		case "audio":
			dst = m.AppendData(append(dst, `{"type":"input_audio","input_audio":{"data":"`...))
			dst = append(append(append(dst, `","format":"`...), audioFormat(string(m.MimeType))...), `"}}`...)
		case "video":
			dst = append(appendDataURI(append(dst, `{"type":"video_url","video_url":{"url":`...), m), `}}`...)
		default:
			if m.URI != nil {
				dst = append(value.AppendJSONText(append(dst, `{"type":"file","file":{"file_id":`...), m.URI), `}}`...)
				continue
			}
			dst = chat.AppendMember(append(dst, `{"type":"file","file":{`...), "filename", m.Filename)
			dst = append(appendDataURI(append(dst, `,"file_data":`...), m), `}}`...)
		}
	}
	return append(dst, ']')
}

// withNotes is a text and behind it which media belong to it, one a line.
func withNotes(text []byte, media []*chat.UnitMedia) []byte {
	if len(media) == 0 {
		return text
	}
	text = append([]byte(nil), text...)
	for _, m := range media {
		if len(text) > 0 {
			text = append(text, '\n')
		}
		text = append(text, m.Note...)
	}
	return text
}

// ofResults are the media of all results, for protocols whose results are texts: there they follow in a message of the
// user.
func ofResults(calls []chat.UnitCall) (media []*chat.UnitMedia) {
	for _, c := range calls {
		media = append(media, c.Media...)
	}
	return media
}

// introduction stands before the media of results where they are not in the results.
const introduction = "What the tools gave:"
