-- The shared lists. A list's row counts everything that its members can see change: "version" for its links,
-- "marks_version" for read marks. Clients and other processes notice changes by these two numbers alone.
CREATE TABLE lists (
  group_id TEXT PRIMARY KEY REFERENCES groups (id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  marks_version INTEGER NOT NULL,
  links INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE bookmarks (
  id TEXT PRIMARY KEY,
  group_id TEXT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
  owner_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- Byte for byte as it was given; page_key is its normalised form, for finding duplicates.
  url TEXT NOT NULL,
  page_key TEXT NOT NULL,
  note TEXT NOT NULL,
  -- Three sources of a title, kept apart so that none overwrites another: the page, the saving browser, a person.
  page_title TEXT,
  browser_title TEXT,
  hand_title TEXT,
  hand_title_by TEXT,
  title_status TEXT NOT NULL,
  title_error TEXT,
  title_checked_at_ms INTEGER,
  title_tries INTEGER NOT NULL,
  title_next_try_at_ms INTEGER,
  shown TEXT,
  -- The normalised address after redirects, to say "also saved as".
  final_key TEXT,
  -- Demo only: what the built-in site answers for this link.
  title_mode TEXT,
  saved_at_ms INTEGER NOT NULL,
  edited_at_ms INTEGER,
  edited_by TEXT,
  -- +1 with each edit by a person: what an editor must have seen (409).
  version INTEGER NOT NULL,
  -- +1 with each new url: what a title must have been fetched for (J4).
  source_version INTEGER NOT NULL,
  -- The list's version when this row last changed.
  list_version INTEGER NOT NULL,
  job_id TEXT,
  -- Everything that can be searched, in one folded line.
  search TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- owner_id in it: one's own links are counted and listed from this index alone, without an index more to keep.
CREATE INDEX bookmarks_in_order ON bookmarks (group_id, saved_at_ms, id, owner_id);
-- saved_at_ms in these two: without it the planner walks the whole list in order to find the oldest.
CREATE INDEX bookmarks_by_page ON bookmarks (group_id, page_key, saved_at_ms);
CREATE INDEX bookmarks_by_final_page ON bookmarks (group_id, final_key, saved_at_ms) WHERE final_key IS NOT NULL;
CREATE INDEX bookmarks_by_change ON bookmarks (group_id, list_version);

CREATE TABLE read_marks (
  group_id TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  bookmark_id TEXT NOT NULL REFERENCES bookmarks (id) ON DELETE CASCADE,
  marked_at_ms INTEGER NOT NULL,
  PRIMARY KEY (group_id, user_id, bookmark_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX read_marks_of_bookmark ON read_marks (bookmark_id, user_id);
