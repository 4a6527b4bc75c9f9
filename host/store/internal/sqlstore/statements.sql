-- The statements of a store on these tables, as SQLite takes them: each begins with a line of its name, and takes its
-- values in the order of its question marks.

-- readMeta: (name)
SELECT value FROM turncore_meta WHERE name = ?;

-- writeMeta: (name, value)
INSERT INTO turncore_meta (name, value) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- findSession: (id)
SELECT number, id, revision, settled, newest, created, title, messages, records, digest, keys, sum
FROM turncore_sessions WHERE id = ?;

-- listSessions: those behind a place in the list, the last updated first (revision, number, limit)
SELECT number, id, revision, settled, newest, created, title, messages, records, digest, keys, sum
FROM turncore_sessions WHERE (revision, number) < (?, ?) ORDER BY revision DESC, number DESC LIMIT ?;

-- lastRevision: of all sessions
SELECT revision FROM turncore_sessions ORDER BY revision DESC, number DESC LIMIT 1;

-- addSession: (id, revision, settled, newest, created, title, messages, records, digest, keys, sum)
INSERT INTO turncore_sessions
  (id, revision, settled, newest, created, title, messages, records, digest, keys, sum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING RETURNING number;

-- setSession: (revision, settled, newest, title, messages, records, digest, keys, sum, number)
UPDATE turncore_sessions
SET revision = ?, settled = ?, newest = ?, title = ?, messages = ?, records = ?, digest = ?, keys = ?, sum = ?
WHERE number = ?;

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

-- findRecord: (session, kind, id)
SELECT kind, id, place, added, changed, body, sum
FROM turncore_records WHERE session = ? AND kind = ? AND id = ?;

-- lastPlace: (session, kind)
SELECT place FROM turncore_records WHERE session = ? AND kind = ? ORDER BY place DESC LIMIT 1;

-- placeBefore: (session, kind, place)
SELECT place FROM turncore_records WHERE session = ? AND kind = ? AND place < ? ORDER BY place DESC LIMIT 1;

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

-- forkRecords: (to, from)
INSERT INTO turncore_records (session, kind, id, place, added, changed, body, sum)
SELECT CAST(? AS INTEGER), kind, id, place, added, changed, body, sum FROM turncore_records WHERE session = ?;

-- allKeys: (session)
SELECT key, turn, revision, sum FROM turncore_keys WHERE session = ?;

-- addKey: (session, key, turn, revision, sum)
INSERT INTO turncore_keys (session, key, turn, revision, sum) VALUES (?, ?, ?, ?, ?);

-- dropKey: (session, key)
DELETE FROM turncore_keys WHERE session = ? AND key = ?;

-- dropKeys: (session)
DELETE FROM turncore_keys WHERE session = ?;

-- addRef: (session, kind, record, bytes)
INSERT INTO turncore_refs (session, kind, record, bytes) VALUES (?, ?, ?, ?)
ON CONFLICT (session, kind, record, bytes) DO NOTHING;

-- dropRefs: of a record (session, kind, record)
DELETE FROM turncore_refs WHERE session = ? AND kind = ? AND record = ?;

-- dropAllRefs: (session)
DELETE FROM turncore_refs WHERE session = ?;

-- forkRefs: (to, from)
INSERT INTO turncore_refs (session, kind, record, bytes)
SELECT CAST(? AS INTEGER), kind, record, bytes FROM turncore_refs WHERE session = ?;

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
SELECT COUNT(*) FROM turncore_bytes WHERE content = ?;

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
) LIMIT ?;

-- unusedContents: content from before a time that no session has (added, limit)
SELECT number FROM turncore_contents AS contents
WHERE contents.added < ? AND NOT EXISTS (
  SELECT 1 FROM turncore_bytes AS bytes WHERE bytes.content = contents.number
) LIMIT ?;
