import { firstPlace } from '../../../contract/events/links.ts'

/** "ASAY" in the file's header: tells a journal from any other SQLite file. */
export const applicationId = 0x41534159

/**
 * Numbered from 1; the number of the last one applied is the file's `user_version`. A released migration is never edited.
 *
 * - `journal`: one row. `position` and `place` end the chain over all events; `fence` is the last one given out; `news` grows with
 *   everything that somebody may be waiting for; `views` tells to which position each view is folded.
 * - `events`: `body` is the text that was hashed. There is no column beside it that a reader would believe.
 * - `work`: `waiting` is 1 while `ready_at` (the end of a lease, or the time before which it is not due) lies ahead. An ended lease
 *   is turned into ready work by the next claim, so that taking the first ready one never walks over rows that are not due.
 * - `queue_clock`: one row. By which start of the machine the times of `work` are counted, and what is added to the time since then.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE journal (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    position INTEGER NOT NULL,
    place TEXT NOT NULL,
    fence INTEGER NOT NULL,
    news INTEGER NOT NULL,
    views TEXT NOT NULL
  ) STRICT;
  INSERT INTO journal VALUES (1, 0, '${firstPlace}', 0, 0, '{}');

  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    version INTEGER NOT NULL,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL,
    place TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX events_of_stream ON events (stream, version);

  CREATE TABLE streams (
    stream TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    hash TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE view_rows (
    view TEXT NOT NULL,
    key TEXT NOT NULL,
    row TEXT NOT NULL,
    PRIMARY KEY (view, key)
  ) STRICT;

  CREATE TABLE work (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    priority REAL NOT NULL,
    payload TEXT NOT NULL,
    owner TEXT,
    fence INTEGER NOT NULL,
    claims INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    ready_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX work_ready ON work (scope, kind, priority DESC, seq) WHERE waiting = 0;
  CREATE INDEX work_waiting ON work (ready_at) WHERE waiting = 1;
  `,
  `
  CREATE TABLE queue_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    boot TEXT NOT NULL,
    added INTEGER NOT NULL
  ) STRICT;
  INSERT INTO queue_clock VALUES (1, '', 0);

  ALTER TABLE work ADD COLUMN postponed INTEGER NOT NULL DEFAULT 0;
  `,
]
