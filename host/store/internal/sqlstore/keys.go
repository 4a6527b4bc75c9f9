package sqlstore

import (
	"fmt"
	"slices"
)

// keyed says under which key a transaction writes to a session.
type keyed struct {
	key, turn string
	ended     []string
}

// keyed runs a function that writes to a session, unless one was run under the key before, and returns the session's
// revision after it. writes tells that the function changes the session.
func (t *tx) keyed(r *sessionRow, k keyed, writes bool, run func() error) (revision string, err error) {
	changed, err := t.forget(r, k.ended)
	if err != nil {
		return "", err
	}
	at, err := t.done(r, k.key, k.turn)
	if err != nil {
		return "", err
	}
	if at == 0 {
		if err := run(); err != nil {
			return "", err
		}
		at = r.revision
		kept, err := t.remember(r, k.key, k.turn)
		if err != nil {
			return "", err
		}
		changed = changed || kept || writes
	}
	if changed {
		err = t.set(r)
	}
	return revisionText(r.number, at), err
}

// forget forgets the keys of turns that have ended. changed tells that there were some: the session is to be stored.
func (t *tx) forget(r *sessionRow, ended []string) (changed bool, err error) {
	for i, turn := range ended {
		if r.keys == 0 || slices.Contains(ended[:i], turn) {
			continue
		}
		n, _, err := t.number("countKeysOfTurn", r.number, []byte(turn))
		if err != nil {
			return false, err
		}
		if n == 0 {
			continue
		}
		if n > r.keys {
			return false, t.miscounted(r)
		}
		if err := t.exec("dropKeysOfTurn", r.number, []byte(turn)); err != nil {
			return false, err
		}
		r.keys -= n
		changed = true
	}
	return changed, nil
}

// done returns the revision that came of the commit or the append of a turn under a key; 0 if there was none.
func (t *tx) done(r *sessionRow, key, turn string) (revision int64, err error) {
	if key == "" || r.keys == 0 {
		return 0, nil
	}
	found, err := t.key(r, "findKey", []byte(key))
	if err != nil {
		return 0, err
	}
	if found != nil {
		return found.revision, nil
	}
	// It may be there, and damaged. What is tried again is what the turn has written last.
	last, err := t.key(r, "lastKey", []byte(turn))
	if err != nil || last != nil {
		return 0, err
	}
	n, _, err := t.number("countKeys", r.number)
	if err == nil && n != r.keys {
		err = t.miscounted(r)
	}
	return 0, err
}

// own tells whether a revision came of a commit or an append of a turn; "" is none.
func (t *tx) own(r *sessionRow, turn string, revision int64) (bool, error) {
	if turn == "" || r.keys == 0 {
		return false, nil
	}
	found, err := t.key(r, "keyOfRevision", []byte(turn), revision)
	return found != nil, err
}

// key reads a key; nil if there is none.
func (t *tx) key(r *sessionRow, statement string, args ...any) (*keyRow, error) {
	rows, err := t.rows(statement, append([]any{r.number}, args...)...)
	found, err := list(rows, err, (*keyRow).scan)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	k := &found[0]
	if k.sum != k.sumUp() {
		return nil, invalidSession(string(r.id), fmt.Sprintf("the checksum of its key %q is wrong", k.key))
	}
	return k, nil
}

// remember keeps the key of a commit or an append, whose revision is the session's; "" is none. kept tells that the
// session is to be stored.
func (t *tx) remember(r *sessionRow, key, turn string) (kept bool, err error) {
	if key == "" {
		return false, nil
	}
	k := keyRow{key: []byte(key), turn: []byte(turn), revision: r.revision}
	r.keys++
	return true, t.exec("addKey", r.number, k.key, k.turn, k.revision, k.sumUp())
}

// miscounted is the error of a session whose keys are not as many as it says.
func (t *tx) miscounted(r *sessionRow) error {
	n, _, err := t.number("countKeys", r.number)
	if err != nil {
		return err
	}
	return invalidSession(string(r.id), fmt.Sprintf("it has %d keys, not %d", n, r.keys))
}
