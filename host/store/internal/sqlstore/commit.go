package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

func checkSession(id string) error { return store.CheckSessionID("session", id) }

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, session string, c store.Commit) (revision string, err error) {
	if err := checkSession(session); err != nil {
		return "", err
	}
	var writes []write
	commit := func(t *tx) (err error) {
		revision, err = (&committing{tx: t, id: session, c: &c}).run(writes)
		return err
	}
	for again := true; ; again = false {
		if writes, err = s.writesOf(ctx, session, c.Deltas); err == nil {
			err = s.updateSurely(ctx, session, c.Key != "", commit)
		}
		// Bytes that were there may have been collected, and then they are put again.
		if !again || !errors.Is(err, host.CodeBytesNotFound) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	s.collectAtTimes()
	return revision, nil
}

// write is a write as the database stores it.
type write struct {
	op      store.Op
	kind    record.Kind
	id      string   // of the record that is deleted or mutated: of an instruction its text
	ids     []string // of the tool calls that are replaced
	records []body
}

// body is a record that is stored.
type body struct {
	id    string // of an instruction its text
	body  []byte
	bytes []string // that it refers to
	at    time.Time
}

// writesOf are the writes of deltas. What readers read is put into the database first.
func (s *Store) writesOf(ctx context.Context, session string, deltas []store.Delta) ([]write, error) {
	rows, err := store.Rows(ctx, s, session, deltas)
	if err != nil {
		return nil, err
	}
	writes := make([]write, len(rows))
	for i := range rows {
		r, w := &rows[i], &writes[i]
		*w = write{op: r.Op, kind: r.Kind, id: r.ID}
		list := rows[i : i+1]
		switch {
		case r.Op == store.OpReplaceToolCallGroup:
			w.ids, list = r.IDs, r.Group
		case r.Op == store.OpDelete:
			list = nil
		case len(r.IDs) > 0:
			w.id = r.IDs[0]
		}
		for _, b := range list {
			if s.d.MaxID > 0 && len(b.ID) > s.d.MaxID && r.Kind != record.KindInstruction {
				return nil, s.tooLong(session, r.Kind.String(), b.ID)
			}
			w.records = append(w.records, body{b.ID, b.Body, b.Bytes, b.At})
		}
	}
	return writes, nil
}

// committing is a commit under way.
type committing struct {
	*tx
	id  string // the session's
	c   *store.Commit
	row *sessionRow
	at  int64 // the commit's revision
	who writer

	instructions []instruction
	listed       bool            // instructions were read
	places       map[int64]int64 // the last of each kind
	sure         map[string]bool // bytes that are there
	ordinal      int             // of the write
	unshared     int64           // no other session shares a record that was added by this revision or a later one
}

// instruction is a row with its text.
type instruction struct {
	recordRow
	text string
}

func (c *committing) run(writes []write) (revision string, err error) {
	if err := c.checkEpoch(c.c.Turn, c.c.Epoch); err != nil {
		return "", err
	}
	c.row, err = c.session("lockSession", c.id)
	switch {
	case err != nil:
		return "", err
	case c.row == nil && len(writes) == 0:
		return store.NoRevision, nil
	case c.row == nil:
		if c.row, err = c.begin(c.id); err != nil {
			return "", err
		}
	}
	return c.keyed(c.row, keyed{c.c.Key, c.c.Turn, c.c.Ended}, len(writes) > 0, func() error { return c.apply(writes) })
}

// apply applies the writes.
func (c *committing) apply(writes []write) (err error) {
	if len(writes) == 0 {
		return nil
	}
	c.who.read(c.row, c.c)
	if c.at, err = c.next(c.row.revision); err != nil {
		return err
	}
	c.places, c.sure, c.unshared = make(map[int64]int64), make(map[string]bool), allShared
	for i := range writes {
		w := &writes[i]
		c.ordinal = i
		if err := c.check(w); err != nil {
			return err
		}
		switch {
		case w.kind == record.KindInstruction:
			err = c.instruct(w)
		case w.op == store.OpReplaceToolCallGroup:
			err = c.replace(w)
		case w.op == store.OpDelete:
			_, err = c.remove(w.kind, w.id)
		default:
			err = c.put(w.kind, &w.records[0])
		}
		if err != nil {
			return err
		}
	}
	c.row.revision = c.at
	return nil
}

// find returns the row of a record; nil if there is none.
func (c *committing) find(kind record.Kind, id string) (*recordRow, error) {
	r, err := c.record(c.row.number, kind, id)
	if r != nil || err != nil || c.row.base == 0 {
		return r, err
	}
	if r, err = c.record(c.row.base, kind, id); err != nil || r == nil || r.added > c.row.cut {
		return nil, err
	}
	r.shared = true
	return r, nil
}

// record returns the row of a record that is a session's own; nil if there is none.
func (c *committing) record(session int64, kind record.Kind, id string) (*recordRow, error) {
	rows, err := c.rows("findRecord", session, int64(kind), []byte(id))
	found, err := list(rows, err, (*recordRow).scan)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], found[0].check(c.id)
}

// put adds a record, or puts it in the place of the one with its id.
func (c *committing) put(kind record.Kind, b *body) error {
	r, err := c.find(kind, b.id)
	if err != nil {
		return err
	}
	if r != nil {
		return c.change(r, b)
	}
	place, err := c.last(kind)
	if err != nil {
		return err
	}
	place += spacing
	c.places[int64(kind)] = place
	return c.insert(kind, b, []byte(b.id), place)
}

// change writes a record in the place of a row.
func (c *committing) change(r *recordRow, b *body) error {
	if err := c.unshare(r); err != nil {
		return err
	}
	c.row.remove(r.sum)
	r.changed, r.body = c.at, b.body
	r.sum = r.sumUp()
	c.row.add(r.sum)
	c.row.settled = c.at
	if err := c.exec("setRecord", r.changed, r.body, r.sum, c.row.number, r.kind, r.id); err != nil {
		return err
	}
	if err := c.exec("dropRefs", c.row.number, r.kind, r.id); err != nil {
		return err
	}
	return c.note(r, b)
}

// insert adds a row at a place.
func (c *committing) insert(kind record.Kind, b *body, id []byte, place int64) error {
	r := recordRow{kind: int64(kind), id: id, place: place, added: c.at, changed: c.at, body: b.body}
	r.sum = r.sumUp()
	c.row.add(r.sum)
	c.row.records++
	if kind == record.KindMessage {
		c.row.messages++
	}
	if err := c.exec("addRecord", c.row.number, r.kind, r.id, r.place, r.added, r.changed, r.body, r.sum); err != nil {
		return err
	}
	return c.note(&r, b)
}

// note keeps what a written record refers to and how far the time has come.
func (c *committing) note(r *recordRow, b *body) error {
	for _, id := range b.bytes {
		if !c.sure[id] {
			found, err := c.bytes(c.row, id)
			if err == nil && found == nil {
				err = store.NoBytes(c.id, id)
			}
			if err != nil {
				return err
			}
			c.sure[id] = true
		}
		if err := c.exec("addRef", c.row.number, r.kind, r.id, []byte(id)); err != nil {
			return err
		}
	}
	switch record.Kind(r.kind) {
	case record.KindMessage, record.KindThought, record.KindToolCall:
		if b.at.IsZero() {
			break
		}
		if at := b.at.UnixMilli(); !c.row.newest.Valid || at > c.row.newest.Int64 {
			c.row.newest.Int64, c.row.newest.Valid = at, true
		}
	}
	return nil
}

// remove deletes a record and returns its row, nil if there was none.
func (c *committing) remove(kind record.Kind, id string) (*recordRow, error) {
	r, err := c.find(kind, id)
	if err != nil || r == nil {
		return nil, err
	}
	return r, c.drop(r)
}

// drop deletes a row.
func (c *committing) drop(r *recordRow) error {
	if err := c.unshare(r); err != nil {
		return err
	}
	c.row.remove(r.sum)
	c.row.records--
	if record.Kind(r.kind) == record.KindMessage {
		c.row.messages--
	}
	c.row.settled = c.at
	delete(c.places, r.kind)
	if err := c.exec("dropRecord", c.row.number, r.kind, r.id); err != nil {
		return err
	}
	return c.exec("dropRefs", c.row.number, r.kind, r.id)
}

// instruct does a write of an instruction. Instructions are a set of texts.
func (c *committing) instruct(w *write) error {
	list, err := c.texts()
	if err != nil {
		return err
	}
	find := func(text string) *instruction {
		for i := range list {
			if list[i].text == text {
				return &list[i]
			}
		}
		return nil
	}
	c.listed = false // what follows reads them again
	old := find(w.id)
	if w.op == store.OpDelete {
		if old == nil {
			return nil
		}
		return c.drop(&old.recordRow)
	}
	b := &w.records[0]
	same := find(b.id)
	switch {
	case w.op == store.OpMutate && old != nil && old != same:
		if same != nil {
			if err := c.drop(&same.recordRow); err != nil {
				return err
			}
		}
		return c.change(&old.recordRow, b)
	case same != nil:
		return nil
	}
	place, err := c.last(w.kind)
	if err != nil {
		return err
	}
	place += spacing
	c.places[int64(w.kind)] = place
	return c.insert(w.kind, b, fmt.Appendf(nil, "%d.%d", c.at, c.ordinal), place)
}

// texts returns the instructions in their order.
func (c *committing) texts() ([]instruction, error) {
	if c.listed {
		return c.instructions, nil
	}
	all, err := c.recordsOfKind(c.row, int64(record.KindInstruction))
	if err != nil {
		return nil, err
	}
	c.instructions = make([]instruction, len(all))
	for i := range all {
		text, err := textOfInstruction(c.id, &all[i])
		if err != nil {
			return nil, err
		}
		c.instructions[i] = instruction{all[i], text}
	}
	c.listed = true
	return c.instructions, nil
}

// textOfInstruction reads the row of an instruction.
func textOfInstruction(session string, r *recordRow) (string, error) {
	if err := r.check(session); err != nil {
		return "", err
	}
	v, err := record.Unmarshal(record.KindInstruction, r.body, nil)
	if err != nil {
		return "", unreadable(session, r, err)
	}
	return record.Key(v), nil
}

// writer is what the writer of a commit knows.
type writer struct {
	checks  bool
	settled int64 // the session's before the commit
	seen    int64
	lost    bool           // seen is a revision that the session never had
	own     map[int64]bool // whether revisions that were looked up are the writer's own
	made    map[named]bool // what the commit itself writes
}

// named is what names a record.
type named struct {
	kind record.Kind
	id   string
}

func (w *writer) read(r *sessionRow, c *store.Commit) {
	*w = writer{}
	if c.Revision == "" {
		return
	}
	seen, ok := r.known(c.Revision)
	if ok && seen == r.revision {
		return
	}
	w.checks, w.settled, w.seen, w.lost = true, r.settled, seen, !ok
	w.own, w.made = make(map[int64]bool), make(map[named]bool)
}

// knows tells whether the writer knows of what a revision did.
func (c *committing) knows(revision int64) (bool, error) {
	w := &c.who
	if revision <= w.seen && !w.lost {
		return true, nil
	}
	if own, looked := w.own[revision]; looked {
		return own, nil
	}
	own, err := c.own(c.row, c.c.Turn, revision)
	w.own[revision] = own
	return own, err
}

// check returns the E_SESSION_CONFLICT of a write, nil if there is none.
func (c *committing) check(w *write) error {
	if !c.who.checks {
		return nil
	}
	var old, written []string
	for i := range w.records {
		written = append(written, w.records[i].id)
	}
	switch {
	case w.op == store.OpReplaceToolCallGroup:
		old = w.ids
	case w.op == store.OpDelete || w.op == store.OpMutate && w.id != "":
		old = []string{w.id}
	case w.op == store.OpMutate:
		old = written
	}
	all := slices.Concat(old, written)
	for i, id := range all {
		if c.who.made[named{w.kind, id}] {
			continue
		}
		changed, there, err := c.changed(w.kind, id)
		if err != nil {
			return err
		}
		known := true
		switch {
		case there && (i < len(old) || w.kind != record.KindInstruction):
			known, err = c.knows(changed)
		case !there && i < len(old) && c.who.lost:
			known = false
		case !there && i < len(old) && c.who.settled > 0:
			known, err = c.knows(c.who.settled)
		}
		if err != nil {
			return err
		}
		if !known {
			return store.Conflict(c.id, w.kind.String(), id)
		}
	}
	for _, id := range all {
		c.who.made[named{w.kind, id}] = true
	}
	return nil
}

// changed is the revision that wrote a record last.
func (c *committing) changed(kind record.Kind, id string) (revision int64, there bool, err error) {
	if kind == record.KindInstruction {
		list, err := c.texts()
		for i := range list {
			if list[i].text == id {
				return list[i].changed, true, nil
			}
		}
		return 0, false, err
	}
	r, err := c.find(kind, id)
	if r == nil || err != nil {
		return 0, false, err
	}
	return r.changed, true, nil
}

// spacing is how far places are apart.
const spacing = 1 << 20

// last is the last place of a kind, 0 for none.
func (c *committing) last(kind record.Kind) (place int64, err error) {
	place, known := c.places[int64(kind)]
	if known {
		return place, nil
	}
	place, found, err := c.number("lastPlace", c.row.number, int64(kind))
	if err == nil && !found && c.row.base != 0 {
		// Behind all that its base has, which may be more than what it shares.
		place, _, err = c.number("lastPlace", c.row.base, int64(kind))
	}
	return place, err
}

// replace puts tool calls where the first of those that they replace was.
func (c *committing) replace(w *write) error {
	first := int64(math.MaxInt64)
	for _, id := range w.ids {
		r, err := c.remove(w.kind, id)
		if err != nil {
			return err
		}
		if r != nil {
			first = min(first, r.place)
		}
	}
	if first == math.MaxInt64 {
		for i := range w.records {
			if err := c.put(w.kind, &w.records[i]); err != nil {
				return err
			}
		}
		return nil
	}
	in := unique(w.records)
	for i := range in {
		if _, err := c.remove(w.kind, in[i].id); err != nil {
			return err
		}
	}
	c.row.settled = c.at
	places, err := c.between(w.kind, first, int64(len(in)))
	if err != nil {
		return err
	}
	for i := range in {
		if err := c.insert(w.kind, &in[i], []byte(in[i].id), places[i]); err != nil {
			return err
		}
	}
	delete(c.places, int64(w.kind))
	return nil
}

// unique leaves of records with one id the last, at the place of the first.
func unique(records []body) (list []body) {
	at := make(map[string]int)
	for _, b := range records {
		if i, there := at[b.id]; there {
			list[i] = b
			continue
		}
		at[b.id] = len(list)
		list = append(list, b)
	}
	return list
}

// between returns n free places from one on, in order and before the next record of the kind.
func (c *committing) between(kind record.Kind, first, n int64) (places []int64, err error) {
	if n == 0 {
		return nil, nil
	}
	delete(c.places, int64(kind))
	last, err := c.last(kind)
	if err != nil {
		return nil, err
	}
	step := int64(spacing)
	switch next, found, err := c.number("placeAfter", c.row.number, int64(kind), first); {
	case err != nil:
		return nil, err
	case first > last:
		first = last + spacing
	case found && next-first < n:
		if first, err = c.layOut(kind, first, n); err != nil {
			return nil, err
		}
	case found:
		step = (next - first) / n
	}
	for i := range n {
		places = append(places, first+i*step)
	}
	return places, nil
}

// layOut gives all records of a kind places that are spacing apart, with room for n from a place on, and returns the
// first of these.
func (c *committing) layOut(kind record.Kind, from, n int64) (first int64, err error) {
	if err := c.separate(c.row); err != nil {
		return 0, err
	}
	all, err := c.recordsOfKind(c.row, int64(kind))
	if err != nil {
		return 0, err
	}
	place := int64(spacing)
	for i := range all {
		r := &all[i]
		if err := r.check(c.id); err != nil {
			return 0, err
		}
		if first == 0 && r.place >= from {
			first = place
			place += n * spacing
		}
		if err := c.unshare(r); err != nil {
			return 0, err
		}
		c.row.remove(r.sum)
		r.place = place
		r.sum = r.sumUp()
		c.row.add(r.sum)
		if err := c.exec("moveRecord", r.place, r.sum, c.row.number, r.kind, r.id); err != nil {
			return 0, err
		}
		place += spacing
	}
	return first, nil
}
