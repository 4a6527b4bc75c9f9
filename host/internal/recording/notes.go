package recording

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// MediaID is the id of a media that is played: of the k-th of message n.
func MediaID(n, k int) string { return "media-" + strconv.Itoa(n) + "-" + strconv.Itoa(k) }

// ownNote is what the executor says of a media that is played.
var ownNote = regexp.MustCompile(`^\[(image|audio|video|document) media-[0-9]+-[0-9]+ "([^"\\]|\\.)*"(, [a-z0-9.+_-]+/[a-z0-9.+_-]+)?\]$`)

// takeNotes takes the executor's notes out of the messages of a request: those before media become the member notes,
// those that stand for media which are not sent, at the end of a text, the member stand_ins.
func takeNotes(messages []any) {
	for _, v := range messages {
		m, _ := v.(map[string]any)
		var before, instead []any
		switch content := m["content"].(type) {
		case string:
			m["content"], instead = withoutNotes(content)
		case []any:
			kept := []any{}
			for i, v := range content {
				part, _ := v.(map[string]any)
				words, isText := part["text"].(string)
				if isText && ownNote.MatchString(words) && i+1 < len(content) && isMedia(content[i+1]) {
					before = append(before, words)
					continue
				}
				if isText && instead == nil {
					if words, instead = withoutNotes(words); words == "" {
						continue
					}
					part["text"] = words
				}
				kept = append(kept, v)
			}
			m["content"] = kept
		}
		if before != nil {
			m["notes"] = before
		}
		if instead != nil {
			m["stand_ins"] = instead
		}
	}
}

// withoutNotes takes the notes away that stand at the end of a text, behind a blank line.
func withoutNotes(text string) (rest string, notes []any) {
	lines := strings.Split(text, "\n")
	n := len(lines)
	for n > 0 && ownNote.MatchString(lines[n-1]) {
		n--
	}
	for _, line := range lines[n:] {
		notes = append(notes, line)
	}
	if n == len(lines) || n == 0 {
		return strings.Join(lines[:n], "\n"), notes
	}
	if lines[n-1] != "" {
		return text, nil
	}
	return strings.Join(lines[:n-1], "\n"), notes
}

// leaveOutMedia takes those media out of recorded messages that the executor does not send, and reports each with the
// note that stands for it in the request, or with the media that the messages of the recorded request before have in
// its place.
func leaveOutMedia(got, want, before []any, report func(path string, got, want any)) {
	for _, v := range got {
		m, _ := v.(map[string]any)
		joinOrder(m, nil)
	}
	for i, v := range want {
		m, _ := v.(map[string]any)
		media, _ := m["media"].([]any)
		if len(media) == 0 {
			continue
		}
		var sent map[string]any
		if i < len(got) {
			sent, _ = got[i].(map[string]any)
		}
		notes, _ := sent["stand_ins"].([]any)
		var kept []any
		left := map[int]bool{}
		for k, one := range media {
			fields, _ := one.(map[string]any)
			if m["role"] == "user" && isSent(fields) {
				kept = append(kept, one)
				continue
			}
			var note any
			if len(left) < len(notes) {
				note = notes[len(left)]
			}
			left[k] = true
			if i < len(before) {
				m, _ := before[i].(map[string]any)
				if list, _ := m["media"].([]any); k >= len(list) || !reflect.DeepEqual(list[k], one) {
					note = m["media"]
				}
			}
			report("/messages/"+strconv.Itoa(i)+"/media/"+strconv.Itoa(k), note, one)
		}
		if len(left) == len(notes) {
			delete(sent, "stand_ins")
		}
		joinOrder(m, left)
		if m["media"] = kept; kept == nil {
			delete(m, "media")
		}
	}
}

// joinOrder puts the order of a message's texts and media into words, without the media that are left out.
func joinOrder(m map[string]any, left map[int]bool) {
	order, ok := m["order"].([]any)
	if !ok {
		return
	}
	var words []string
	k := 0
	for _, v := range order {
		what, _ := v.(string)
		if what != "text" {
			if k++; left[k-1] {
				continue
			}
		} else if n := len(words); n > 0 && words[n-1] == what {
			continue
		}
		words = append(words, what)
	}
	if delete(m, "order"); len(words) > 0 && k > len(left) {
		m["order"] = strings.Join(words, ", ")
	}
}
