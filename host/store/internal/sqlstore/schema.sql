-- The tables of a database that keeps conversations. SQLite in Go and in JavaScript and a Durable Object's storage have
-- them as they stand here, so each opens what another wrote; PostgreSQL has BIGINT for INTEGER, BYTEA for BLOB and an
-- identity for AUTOINCREMENT.
--
-- Ids, titles and keys are UTF-8 in BLOBs: any text is an id, U+0000 included, compared byte by byte.
--
-- Times are microseconds since 1970, except newest. A revision is the time of the commit that made it, but always later
-- than every revision in the database, whatever the clock says: none is used twice, even if the database lost its last
-- transactions. Outside the database a session's revision is the text NUMBER.REVISION; of a session that is not there,
-- 0.0.
--
-- The sum of a row is the CRC-32 (IEEE) of its columns in their order here, without the ones that say so and without
-- sum: a whole number in decimal digits, a BLOB as its bytes, NULL as nothing, a byte 0 after each.
--
-- A change of the schema is a section of its own below the others, beginning with its version. Sections that have been
-- released do not change.

-- version 1

-- What the database is: name 'schema' has the version of the schema, 'collected' the time at which bytes were last
-- collected.
CREATE TABLE turncore_meta (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
);

-- A session. messages, records and events are how many there are, digest is the sum of the sums of its records modulo
-- 2^32, and keys is how many keys it has.
--
-- A fork shares the records of the session with the number base, as they were at that one's revision cut: they come
-- before its own. It gets rows of its own for all of them before either session changes, deletes or moves what is
-- shared, before base is deleted, and before it is forked itself; base and cut are 0 then, as for all other sessions.
-- messages, records and digest count what is shared.
CREATE TABLE turncore_sessions (
  number INTEGER PRIMARY KEY AUTOINCREMENT, -- not in sum; no number is used twice
  id BLOB NOT NULL UNIQUE,
  revision INTEGER NOT NULL, -- of the last commit
  settled INTEGER NOT NULL, -- the revision since which records were added only, not changed, deleted or moved
  newest INTEGER, -- latest creation of a message, thought or tool call, in milliseconds since 1970; NULL for none
  created INTEGER NOT NULL,
  title BLOB NOT NULL,
  messages INTEGER NOT NULL,
  records INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  keys INTEGER NOT NULL,
  events INTEGER NOT NULL,
  appended INTEGER NOT NULL, -- the revision of the last append; 0 for none
  base INTEGER NOT NULL,
  cut INTEGER NOT NULL,
  sum INTEGER NOT NULL
);

CREATE INDEX turncore_sessions_by_revision ON turncore_sessions (revision DESC, number DESC);

CREATE INDEX turncore_sessions_by_base ON turncore_sessions (base);

-- A record: kind is its number in the ABI, body its stored form. An instruction's id is REVISION.N, N being the number
-- of the write in the commit that stored it, from 0; that of any other record is its own.
--
-- Records of a kind are ordered by place. One that is added gets the last place of its kind and 2^20, the first 2^20;
-- the first of a fork's own, the last place that its base has and 2^20.
--
-- What replaces a group begins at the place of the group's first and is spread evenly to the next record; where there
-- are too few places, all places of the kind are laid out anew, 2^20 apart.
CREATE TABLE turncore_records (
  session INTEGER NOT NULL, -- not in sum
  kind INTEGER NOT NULL,
  id BLOB NOT NULL,
  place INTEGER NOT NULL,
  added INTEGER NOT NULL, -- revision that put it at the end of its kind
  changed INTEGER NOT NULL, -- revision that wrote its body
  body BLOB NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (session, kind, id)
);

CREATE INDEX turncore_records_by_place ON turncore_records (session, kind, place);

CREATE INDEX turncore_records_by_revision ON turncore_records (session, added);

-- The keys of the commits and appends of turns that have not ended, with the revision that each returned.
CREATE TABLE turncore_keys (
  session INTEGER NOT NULL, -- not in sum
  key BLOB NOT NULL,
  turn BLOB NOT NULL,
  revision INTEGER NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (session, key)
);

CREATE INDEX turncore_keys_by_turn ON turncore_keys (session, turn, revision);

-- Bytes of a session. A fork shares the content.
CREATE TABLE turncore_bytes (
  session INTEGER NOT NULL, -- not in sum
  id BLOB NOT NULL,
  content INTEGER NOT NULL,
  size INTEGER NOT NULL,
  added INTEGER NOT NULL, -- when they were last put
  sum INTEGER NOT NULL,
  PRIMARY KEY (session, id)
);

CREATE INDEX turncore_bytes_by_content ON turncore_bytes (content);

CREATE INDEX turncore_bytes_by_added ON turncore_bytes (added);

-- What bytes are made of. One that no row of turncore_bytes has is being written, or is left of a program that ended
-- while it wrote.
CREATE TABLE turncore_contents (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  added INTEGER NOT NULL
);

-- Content in parts: all but the last have 1 MiB.
CREATE TABLE turncore_parts (
  content INTEGER NOT NULL,
  part INTEGER NOT NULL, -- from 0
  data BLOB NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (content, part)
);

-- Which records refer to which bytes of their session.
CREATE TABLE turncore_refs (
  session INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  record BLOB NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (session, kind, record, bytes)
);

CREATE INDEX turncore_refs_by_bytes ON turncore_refs (session, bytes);

-- Events of a session, in the order of the revisions that appended them.
CREATE TABLE turncore_events (
  session INTEGER NOT NULL, -- not in sum
  revision INTEGER NOT NULL,
  id BLOB NOT NULL,
  body BLOB NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (session, revision)
);

CREATE UNIQUE INDEX turncore_events_by_id ON turncore_events (session, id);

-- Values of a scope: that of a session has its number and an empty name, one that sessions share has 0 and its name.
CREATE TABLE turncore_state (
  session INTEGER NOT NULL, -- not in sum
  scope BLOB NOT NULL,
  name BLOB NOT NULL,
  value BLOB NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (session, scope, name)
);

-- Versions of artifacts of a scope, which is as in turncore_state. They share content with the bytes that they were
-- made of, and with those of forks.
CREATE TABLE turncore_artifacts (
  session INTEGER NOT NULL, -- not in sum
  scope BLOB NOT NULL,
  name BLOB NOT NULL,
  version INTEGER NOT NULL,
  content INTEGER NOT NULL,
  size INTEGER NOT NULL,
  body BLOB NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (session, scope, name, version)
);

CREATE INDEX turncore_artifacts_by_content ON turncore_artifacts (content);

-- Journals of turns. checkpoint stands for the entries before first, NULL for none; next is the number of the entry
-- that comes next.
CREATE TABLE turncore_journals (
  turn BLOB PRIMARY KEY,
  epoch INTEGER NOT NULL,
  first INTEGER NOT NULL,
  next INTEGER NOT NULL,
  checkpoint BLOB,
  sum INTEGER NOT NULL
);

-- Entries of journals.
CREATE TABLE turncore_entries (
  turn BLOB NOT NULL,
  number INTEGER NOT NULL,
  body BLOB NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (turn, number)
);
