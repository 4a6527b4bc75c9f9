package abi

import "strconv"

// RunOf names a run of a turn: another one of the same id begins at another time. now is StartTurn's.
func RunOf(turn string, now int64) string { return turn + "@" + strconv.FormatInt(now, 36) }

// WriteKey returns the idempotency key of a write: of an effect Store, Commit, Discard or Spool. now is StartTurn's.
func WriteKey(turn string, now int64, effect uint32) string {
	return RunOf(turn, now) + ".e" + strconv.FormatUint(uint64(effect), 10)
}

// CallKey returns the idempotency key of a tool's call, from its Effect frame: the path, the callId of its arguments,
// and the ordinal.
func CallKey(turn, path, callID string, ordinal uint32) string {
	return turn + "." + path + "." + callID + "." + strconv.FormatUint(uint64(ordinal), 10)
}
