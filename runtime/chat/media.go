package chat

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/trust"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// UnitMedia is a medium in a request: an image, a sound, a video or a document. Its bytes stay in the host, which
// inserts them at the position that AppendData reserves.
type UnitMedia struct {
	Kind     string // image, audio, video or document
	MimeType []byte // type/subtype, in characters that need no escaping
	Filename []byte
	Note     []byte // text before it that identifies the medium
	URI      []byte // where it lies, in place of bytes; nil for others

	at     int // offset in the request; 0 if it is not in it
	handle int64
	part   int
}

// AppendData reserves the position of the medium's bytes, which the host inserts in base64.
func (m *UnitMedia) AppendData(dst []byte) []byte {
	m.at = len(dst)
	return dst
}

// mediaOptions say which media are sent.
type mediaOptions struct {
	kinds    []string // nil for all that the provider accepts
	max      int64    // bytes per medium
	required bool     // a medium that cannot be sent is an error
}

// media sets the options about media.
func (p *parser) media(name string, v []byte) {
	switch name {
	case "maxMediaBytes":
		p.medias.max = int64(p.whole(name, v, minMaxMediaBytes, maxMaxMediaBytes))
	case "unsupportedMedia":
		switch p.text(name, v) {
		case "text":
			p.medias.required = false
		case "error":
			p.medias.required = true
		default:
			p.fail(name, oneOfUnsupportedMedia)
		}
	default:
		p.medias.kinds = []string{}
		if value.EachItem(v, func(_ int, item []byte) bool {
			kind, _ := value.String(item)
			if !slices.Contains(MediaKinds[:], string(kind)) {
				p.fail(name, "must only contain image, audio, video and document")
				return false
			}
			p.medias.kinds = append(p.medias.kinds, string(kind))
			return true
		}) != nil {
			p.fail(name, "must be a list")
		}
	}
}

// MediaKinds are the kinds of media.
var MediaKinds = [...]string{"image", "audio", "video", "document"}

// takes reports whether a request may hold a medium.
func (o *options) takes(m record.Media) bool {
	kind, mime := string(m.Kind()), string(m.MimeType())
	switch {
	case !isMimeType(mime) || o.medias.kinds != nil && !slices.Contains(o.medias.kinds, kind):
		return false
	case o.engine != nil:
		return m.URI() == nil && o.engine.Takes(kind)
	}
	uri := m.URI()
	return o.protocol.Media != nil && o.protocol.Media(kind, mime) &&
		(uri == nil || o.protocol.Files != nil && o.protocol.Files(kind, string(uri)))
}

// isMimeType reports whether a text is a type and a subtype in lower case, without parameters.
func isMimeType(text string) bool {
	slash := -1
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '/' && slash < 0:
			slash = i
		case (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '+' && c != '-' && c != '_':
			return false
		}
	}
	return slash > 0 && slash < len(text)-1 && len(text) <= 128
}

// describeMedia finds the sizes of media that may be sent and whose records do not give them. It waits for the host and
// caches the answers.
func (p *projection) describeMedia(o *options, d Dispatch, handle int64, content []byte) (err error) {
	record.EachPart(content, func(i int, kind record.PartKind, part []byte) bool {
		m, at := record.Media(part), place{handle, i}
		if _, known := p.sizes[at]; known || kind != record.MediaPart || m.Bytes() >= 0 || !o.takes(m) {
			return true
		}
		var size int64
		if size, err = d.MediaSize(handle, i); err != nil {
			return false
		}
		if p.sizes == nil {
			p.sizes = make(map[place]int64)
		}
		p.sizes[at] = size
		return true
	})
	return err
}

// addMedia puts the media of a record into the list if the request may hold them. Otherwise, or with asText, it appends
// texts that represent them to dst, one per line. The nonce is that of the record.
func (p *projection) addMedia(o *options, dst []byte, list []*UnitMedia, handle int64, parts []byte, nonce string, asText bool) ([]byte, []*UnitMedia) {
	first := true
	record.EachPart(parts, func(i int, kind record.PartKind, part []byte) bool {
		if kind != record.MediaPart {
			return true
		}
		m := record.Media(part)
		if !asText && p.sent(o, handle, i, m) {
			list = append(list, &UnitMedia{
				Kind: string(m.Kind()), MimeType: m.MimeType(), Filename: plainFilename(m.Filename()), Note: o.marks.text(nil, appendNote(nil, m)), URI: m.URI(),
				handle: handle, part: i,
			})
			return true
		}
		if !first {
			dst = append(dst, '\n')
		}
		first = false
		dst = o.marks.text(dst, appendNote(nil, m))
		if text, mark := fallback(m); text != nil {
			mark.Nonce = nonce
			dst = o.marks.append(append(dst, '\n'), mark, text)
		}
		return true
	})
	return dst, list
}

// sent reports whether a request holds a medium.
func (p *projection) sent(o *options, handle int64, part int, m record.Media) bool {
	size := m.Bytes()
	if size < 0 {
		size = p.sizes[place{handle, part}]
	}
	return size <= o.medias.max && o.takes(m)
}

// unsupported is the error for a medium of a message or a call that cannot be sent; nil if all can, or if texts may
// represent them.
func (p *projection) unsupported(o *options, handle int64, parts []byte) (err error) {
	if !o.medias.required {
		return nil
	}
	record.EachPart(parts, func(i int, kind record.PartKind, part []byte) bool {
		m := record.Media(part)
		if kind == record.MediaPart && !p.sent(o, handle, i, m) {
			why := "is not for " + o.protocol.Name
			if o.takes(m) {
				why = "has more than " + strconv.FormatInt(o.medias.max, 10) + " bytes"
			}
			err = fault.New(fault.ChatUnsupportedMedia, string(appendNote(nil, m))+" "+why)
		}
		return err == nil
	})
	return err
}

// appendNote appends the text that identifies a medium.
func appendNote(dst []byte, m record.Media) []byte {
	if uri := m.URI(); uri != nil {
		return append(append(append(dst, "[fileData: "...), uri...), ']')
	}
	dst = append(append(append(dst, '['), m.Kind()...), ' ')
	dst = append(append(dst, plainFilename(m.ID())...), ' ')
	dst = value.AppendJSONText(dst, plainFilename(m.Filename()))
	if mime := m.MimeType(); isMimeType(string(mime)) {
		dst = append(append(dst, ", "...), mime...)
	}
	return append(dst, ']')
}

// plainFilename removes brackets and control characters from a name and cuts it to 256 bytes.
func plainFilename(name []byte) []byte {
	const most = 256
	plain := make([]byte, 0, min(len(name), most))
	for _, c := range string(name) {
		if c < ' ' || c == 0x7f || c == '<' || c == '>' {
			continue
		}
		if size := len(string(c)); len(plain)+size > most {
			break
		}
		plain = append(plain, string(c)...)
	}
	return plain
}

// stashTexts are the stash keys of texts that may represent a medium, best first.
var stashTexts = [...]string{"text:transcript", "text:caption", "text:description"}

// fallback is a text that describes a medium's content, with the mark it needs; nil if there is none. It is trusted no
// more than the medium, and not at all if it was extracted from one that may hold instructions.
func fallback(m record.Media) (text []byte, mark trust.Mark) {
	for _, name := range stashTexts {
		entry, _ := value.Get(m.Stash(), name)
		text, ok := value.GetString(entry, "value")
		if !ok || len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		own, _ := value.GetString(entry, "trustTier")
		derived, _ := value.Get(entry, "derivedFromMedia")
		isDerived, _ := value.Bool(derived)
		hazard := string(m.ModalityHazard())
		mark.Name = "untrusted_content"
		if string(own) == "first-party" && string(m.TrustTier()) == "first-party" && !(isDerived && hazard != "inert") {
			mark.Name = "trusted_content"
		}
		modality, _, _ := bytes.Cut([]byte(hazard), []byte{'-'})
		mark.Attributes = append(kindOf("media-fallback"), trust.Attribute{Name: "modality", Value: modality}, trust.Attribute{Name: "id", Value: m.ID()})
		return text, mark
	}
	return nil, mark
}

// placeMedia notes the positions of a unit's media after the unit was written.
func (p *projection) placeMedia(u *Unit, most int64) {
	p.addPlaces(u.Media, most)
	for i := range u.Calls {
		p.addPlaces(u.Calls[i].Media, most)
	}
}

// addPlaces keeps the splices in order of position, since providers write media in any order.
func (p *projection) addPlaces(list []*UnitMedia, most int64) {
	for _, m := range list {
		if m.at == 0 {
			continue
		}
		p.splices = append(p.splices, runtime.Splice{At: m.at, Handle: m.handle, Part: m.part, Max: most})
		for i := len(p.splices) - 1; i > 0 && p.splices[i].At < p.splices[i-1].At; i-- {
			p.splices[i], p.splices[i-1] = p.splices[i-1], p.splices[i]
		}
	}
}
