package store

import (
	"bytes"
	"context"
	"io"
	"maps"
	"time"

	"github.com/turncore/turncore/host/record"
)

// memoryBytes are the bytes of an id, and when they were put.
type memoryBytes struct {
	data  []byte
	added time.Time
}

// collectAfter is how long bytes stay that no record refers to: a turn may be about to commit one.
const collectAfter = time.Hour

// PutBytes implements Store.
func (m *InMemory) PutBytes(_ context.Context, session, id string, content io.Reader) error {
	if err := CheckSessionID("session", session); err != nil {
		return err
	}
	data, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin(session).bytes[id] = memoryBytes{data, m.time()}
	return nil
}

// OpenBytes implements Store.
func (m *InMemory) OpenBytes(_ context.Context, session, id string) (io.ReaderAt, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, _ := m.session(session)
	b, there := s.bytes[id]
	if !there {
		return nil, 0, NoBytes(session, id)
	}
	return bytes.NewReader(b.data), int64(len(b.data)), nil
}

// collect deletes the bytes that no record refers to, once an hour. A record may have those of another session: of one
// that its session was forked from. The caller holds m.mu.
func (m *InMemory) collect() {
	now := m.time()
	if m.collected.IsZero() {
		m.collected = now
	}
	if now.Sub(m.collected) < collectAfter {
		return
	}
	m.collected = now
	used := make(map[string]bool)
	for _, s := range m.sessions {
		for kind := range s.Tables {
			for _, r := range s.Tables[kind].Rows {
				for _, id := range record.BytesOf(r.Value) {
					used[id] = true
				}
			}
		}
	}
	for _, s := range m.sessions {
		maps.DeleteFunc(s.bytes, func(id string, b memoryBytes) bool { return !used[id] && now.Sub(b.added) >= collectAfter })
	}
}
