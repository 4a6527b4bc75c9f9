-- The statements of a store on these tables, as SQLite takes them: each begins with a line of its name, and takes its
-- values in the order of its question marks.

-- readMeta: (name)
SELECT value FROM turncore_meta WHERE name = ?;

-- writeMeta: (name, value)
INSERT INTO turncore_meta (name, value) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- findSession: (id)
SELECT number, id, revision, settled, newest, created, title, messages, records, digest, keys,
  events, appended, base, cut, sum
FROM turncore_sessions WHERE id = ?;

-- listSessions: those behind a place in the list, the last updated first (revision, number, limit)
SELECT number, id, revision, settled, newest, created, title, messages, records, digest, keys,
  events, appended, base, cut, sum
FROM turncore_sessions WHERE (revision, number) < (?, ?) ORDER BY revision DESC, number DESC LIMIT ?;

-- listSessionsOf: those of a range; "+ 0" keeps off an index (first id, id behind the last, revision, number, limit)
SELECT number, id, revision, settled, newest, created, title, messages, records, digest, keys,
  events, appended, base, cut, sum
FROM turncore_sessions WHERE id >= ? AND id < ? AND (revision + 0, number) < (?, ?)
ORDER BY revision + 0 DESC, number DESC LIMIT ?;

-- lastRevision: of all sessions
SELECT revision FROM turncore_sessions ORDER BY revision DESC, number DESC LIMIT 1;

-- addSession: (all columns but number, in their order)
INSERT INTO turncore_sessions
  (id, revision, settled, newest, created, title, messages, records, digest, keys, events, appended, base, cut, sum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING RETURNING number;

-- setSession: (revision, settled, newest, title, those from messages to sum in their order, number)
UPDATE turncore_sessions
SET revision = ?, settled = ?, newest = ?, title = ?, messages = ?, records = ?, digest = ?, keys = ?,
  events = ?, appended = ?, base = ?, cut = ?, sum = ?
WHERE number = ?;

-- forksOf: those that share records up to a revision or a later one (base, cut)
SELECT number, id, revision, settled, newest, created, title, messages, records, digest, keys,
  events, appended, base, cut, sum
FROM turncore_sessions WHERE base = ? AND cut >= ? ORDER BY number;

-- dropSession: (number)
DELETE FROM turncore_sessions WHERE number = ?;

-- allRecords: (session)
SELECT kind, id, place, added, changed, body, sum
FROM turncore_records WHERE session = ? ORDER BY kind, place;

-- recordsOfKind: (session, kind)
SELECT kind, id, place, added, changed, body, sum
FROM turncore_records WHERE session = ? AND kind = ? ORDER BY place;

-- recordsAfter: without instructions; "+ 0" keeps off the index whose order fits (session, revision)
SELECT kind, id, place, added, changed, body, sum
FROM turncore_records WHERE session = ? AND added > ? AND kind <> 0 ORDER BY kind + 0, place;

-- sharedRecords: those of a base that its fork shares (base, cut)
SELECT kind, id, place, added, changed, body, sum
FROM turncore_records WHERE session = ? AND added <= ? ORDER BY kind, place;

-- sharedOfKind: "+ 0" keeps off the index whose order does not fit (base, kind, cut)
SELECT kind, id, place, added, changed, body, sum
FROM turncore_records WHERE session = ? AND kind = ? AND added + 0 <= ? ORDER BY place;

-- findRecord: (session, kind, id)
SELECT kind, id, place, added, changed, body, sum
FROM turncore_records WHERE session = ? AND kind = ? AND id = ?;

-- lastPlace: (session, kind)
SELECT place FROM turncore_records WHERE session = ? AND kind = ? ORDER BY place DESC LIMIT 1;

-- placeAfter: (session, kind, place)
SELECT place FROM turncore_records WHERE session = ? AND kind = ? AND place > ? ORDER BY place LIMIT 1;

-- addRecord: (session, kind, id, place, added, changed, body, sum)
INSERT INTO turncore_records (session, kind, id, place, added, changed, body, sum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- setRecord: (changed, body, sum, session, kind, id)
UPDATE turncore_records SET changed = ?, body = ?, sum = ? WHERE session = ? AND kind = ? AND id = ?;

-- moveRecord: (place, sum, session, kind, id)
UPDATE turncore_records SET place = ?, sum = ? WHERE session = ? AND kind = ? AND id = ?;

-- dropRecord: (session, kind, id)
DELETE FROM turncore_records WHERE session = ? AND kind = ? AND id = ?;

-- dropRecords: (session)
DELETE FROM turncore_records WHERE session = ?;

-- copyRecords: those that a fork shares (fork, base, cut)
INSERT INTO turncore_records (session, kind, id, place, added, changed, body, sum)
SELECT CAST(? AS INTEGER), kind, id, place, added, changed, body, sum
FROM turncore_records WHERE session = ? AND added <= ?;

-- findKey: (session, key)
SELECT key, turn, revision, sum FROM turncore_keys WHERE session = ? AND key = ?;

-- lastKey: of a turn (session, turn)
SELECT key, turn, revision, sum FROM turncore_keys
WHERE session = ? AND turn = ? ORDER BY revision DESC LIMIT 1;

-- keyOfRevision: one of a turn (session, turn, revision)
SELECT key, turn, revision, sum FROM turncore_keys WHERE session = ? AND turn = ? AND revision = ? LIMIT 1;

-- countKeys: (session)
SELECT COUNT(*) FROM turncore_keys WHERE session = ?;

-- countKeysOfTurn: (session, turn)
SELECT COUNT(*) FROM turncore_keys WHERE session = ? AND turn = ?;

-- addKey: (session, key, turn, revision, sum)
INSERT INTO turncore_keys (session, key, turn, revision, sum) VALUES (?, ?, ?, ?, ?);

-- dropKeysOfTurn: (session, turn)
DELETE FROM turncore_keys WHERE session = ? AND turn = ?;

-- dropKeys: (session)
DELETE FROM turncore_keys WHERE session = ?;

-- sessionsWithOldKeys: with keys of turns without a journal, all from before a revision (revision, revision, limit)
SELECT DISTINCT sessions.id
FROM turncore_keys AS keys JOIN turncore_sessions AS sessions ON sessions.number = keys.session
WHERE keys.revision < ? AND NOT EXISTS (
  SELECT 1 FROM turncore_keys AS later
  WHERE later.session = keys.session AND later.turn = keys.turn AND later.revision >= ?
) AND NOT EXISTS (
  SELECT 1 FROM turncore_journals AS journals WHERE journals.turn = keys.turn
) LIMIT ?;

-- turnsWithOldKeys: those turns of a session (session, revision, revision)
SELECT DISTINCT keys.turn FROM turncore_keys AS keys
WHERE keys.session = ? AND keys.revision < ? AND NOT EXISTS (
  SELECT 1 FROM turncore_keys AS later
  WHERE later.session = keys.session AND later.turn = keys.turn AND later.revision >= ?
) AND NOT EXISTS (
  SELECT 1 FROM turncore_journals AS journals WHERE journals.turn = keys.turn
);

-- addRef: (session, kind, record, bytes)
INSERT INTO turncore_refs (session, kind, record, bytes) VALUES (?, ?, ?, ?)
ON CONFLICT (session, kind, record, bytes) DO NOTHING;

-- dropRefs: of a record (session, kind, record)
DELETE FROM turncore_refs WHERE session = ? AND kind = ? AND record = ?;

-- dropAllRefs: (session)
DELETE FROM turncore_refs WHERE session = ?;

-- copyRefs: those of the records that a fork shares (fork, base, cut)
INSERT INTO turncore_refs (session, kind, record, bytes)
SELECT CAST(? AS INTEGER), refs.kind, refs.record, refs.bytes
FROM turncore_refs AS refs JOIN turncore_records AS records
  ON records.session = refs.session AND records.kind = refs.kind AND records.id = refs.record
WHERE refs.session = ? AND records.added <= ?;

-- findBytes: (session, id)
SELECT id, content, size, added, sum FROM turncore_bytes WHERE session = ? AND id = ?;

-- allBytes: (session)
SELECT id, content, size, added, sum FROM turncore_bytes WHERE session = ?;

-- putBytes: (session, id, content, size, added, sum)
INSERT INTO turncore_bytes (session, id, content, size, added, sum) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (session, id) DO UPDATE
SET content = excluded.content, size = excluded.size, added = excluded.added, sum = excluded.sum;

-- dropBytes: (session, id)
DELETE FROM turncore_bytes WHERE session = ? AND id = ?;

-- dropAllBytes: (session)
DELETE FROM turncore_bytes WHERE session = ?;

-- forkBytes: (to, from)
INSERT INTO turncore_bytes (session, id, content, size, added, sum)
SELECT CAST(? AS INTEGER), id, content, size, added, sum FROM turncore_bytes WHERE session = ?;

-- addContent: (added)
INSERT INTO turncore_contents (added) VALUES (?) RETURNING number;

-- usesOfContent: (content)
SELECT COUNT(*) FROM (
  SELECT content FROM turncore_bytes UNION ALL SELECT content FROM turncore_artifacts
) AS uses WHERE content = ?;

-- dropContent: (number)
DELETE FROM turncore_contents WHERE number = ?;

-- addPart: (content, part, data, sum)
INSERT INTO turncore_parts (content, part, data, sum) VALUES (?, ?, ?, ?);

-- findPart: (content, part)
SELECT data, sum FROM turncore_parts WHERE content = ? AND part = ?;

-- dropParts: (content)
DELETE FROM turncore_parts WHERE content = ?;

-- sessionsWithUnusedBytes: sessions that have bytes from before a time to which no record refers (added, limit)
SELECT DISTINCT sessions.id
FROM turncore_bytes AS bytes JOIN turncore_sessions AS sessions ON sessions.number = bytes.session
WHERE bytes.added < ? AND NOT EXISTS (
  SELECT 1 FROM turncore_refs AS refs WHERE refs.session = bytes.session AND refs.bytes = bytes.id
) AND NOT EXISTS (
  SELECT 1 FROM turncore_refs AS refs WHERE refs.session = sessions.base AND refs.bytes = bytes.id
) LIMIT ?;

-- unusedContents: content from before a time that neither bytes nor artifacts have (added, limit)
SELECT number FROM turncore_contents AS contents
WHERE contents.added < ? AND NOT EXISTS (
  SELECT 1 FROM turncore_bytes AS bytes WHERE bytes.content = contents.number
) AND NOT EXISTS (
  SELECT 1 FROM turncore_artifacts AS artifacts WHERE artifacts.content = contents.number
) LIMIT ?;

-- findEvent: (session, id)
SELECT revision, id, body, sum FROM turncore_events WHERE session = ? AND id = ?;

-- eventsAfter: the first of those behind a revision (session, revision, limit)
SELECT revision, id, body, sum
FROM turncore_events WHERE session = ? AND revision > ? ORDER BY revision LIMIT ?;

-- lastEvents: the last of those behind a revision, the last one first (session, revision, limit)
SELECT revision, id, body, sum
FROM turncore_events WHERE session = ? AND revision > ? ORDER BY revision DESC LIMIT ?;

-- addEvent: (session, revision, id, body, sum)
INSERT INTO turncore_events (session, revision, id, body, sum) VALUES (?, ?, ?, ?, ?);

-- dropEvents: (session)
DELETE FROM turncore_events WHERE session = ?;

-- forkEvents: (to, from)
INSERT INTO turncore_events (session, revision, id, body, sum)
SELECT CAST(? AS INTEGER), revision, id, body, sum FROM turncore_events WHERE session = ?;

-- countEventsTo: those up to a revision (session, revision)
SELECT COUNT(*) FROM turncore_events WHERE session = ? AND revision <= ?;

-- forkEventsTo: those up to a revision (to, from, revision)
INSERT INTO turncore_events (session, revision, id, body, sum)
SELECT CAST(? AS INTEGER), revision, id, body, sum FROM turncore_events WHERE session = ? AND revision <= ?;

-- allState: (session, scope)
SELECT scope, name, value, sum FROM turncore_state WHERE session = ? AND scope = ? ORDER BY name;

-- setState: (session, scope, name, value, sum)
INSERT INTO turncore_state (session, scope, name, value, sum) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (session, scope, name) DO UPDATE SET value = excluded.value, sum = excluded.sum;

-- dropState: (session, scope, name)
DELETE FROM turncore_state WHERE session = ? AND scope = ? AND name = ?;

-- dropAllState: (session)
DELETE FROM turncore_state WHERE session = ?;

-- forkState: (to, from)
INSERT INTO turncore_state (session, scope, name, value, sum)
SELECT CAST(? AS INTEGER), scope, name, value, sum FROM turncore_state WHERE session = ?;

-- allArtifacts: (session, scope)
SELECT scope, name, version, content, size, body, sum
FROM turncore_artifacts WHERE session = ? AND scope = ? ORDER BY name, version;

-- findArtifact: (session, scope, name, version)
SELECT scope, name, version, content, size, body, sum
FROM turncore_artifacts WHERE session = ? AND scope = ? AND name = ? AND version = ?;

-- lastArtifact: the last version (session, scope, name)
SELECT scope, name, version, content, size, body, sum
FROM turncore_artifacts WHERE session = ? AND scope = ? AND name = ? ORDER BY version DESC LIMIT 1;

-- addArtifact: (session, scope, name, version, content, size, body, sum)
INSERT INTO turncore_artifacts (session, scope, name, version, content, size, body, sum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (session, scope, name, version) DO NOTHING RETURNING version;

-- contentsOfArtifacts: (session)
SELECT content FROM turncore_artifacts WHERE session = ?;

-- dropAllArtifacts: (session)
DELETE FROM turncore_artifacts WHERE session = ?;

-- forkArtifacts: (to, from)
INSERT INTO turncore_artifacts (session, scope, name, version, content, size, body, sum)
SELECT CAST(? AS INTEGER), scope, name, version, content, size, body, sum
FROM turncore_artifacts WHERE session = ?;

-- forkVersions: of an artifact, those before a version (to, from, scope, name, version)
INSERT INTO turncore_artifacts (session, scope, name, version, content, size, body, sum)
SELECT CAST(? AS INTEGER), scope, name, version, content, size, body, sum
FROM turncore_artifacts WHERE session = ? AND scope = ? AND name = ? AND version < ?;

-- findJournal: (turn)
SELECT turn, epoch, first, next, checkpoint, sum FROM turncore_journals WHERE turn = ?;

-- addJournal: (turn, epoch, first, next, checkpoint, sum)
INSERT INTO turncore_journals (turn, epoch, first, next, checkpoint, sum) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (turn) DO NOTHING RETURNING epoch;

-- setJournal: (epoch, first, next, checkpoint, sum, turn)
UPDATE turncore_journals SET epoch = ?, first = ?, next = ?, checkpoint = ?, sum = ? WHERE turn = ?;

-- dropJournal: (turn)
DELETE FROM turncore_journals WHERE turn = ?;

-- entriesFrom: (turn, number)
SELECT turn, number, body, sum FROM turncore_entries WHERE turn = ? AND number >= ? ORDER BY number;

-- anyEntry: (turn)
SELECT number FROM turncore_entries WHERE turn = ? LIMIT 1;

-- addEntry: (turn, number, body, sum)
INSERT INTO turncore_entries (turn, number, body, sum) VALUES (?, ?, ?, ?);

-- dropEntriesBefore: (turn, number)
DELETE FROM turncore_entries WHERE turn = ? AND number < ?;

-- dropEntries: (turn)
DELETE FROM turncore_entries WHERE turn = ?;
