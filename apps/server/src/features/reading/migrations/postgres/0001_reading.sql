-- PostgreSQL. The same tables as in ../sqlite, where the columns are explained; a test compares the two. Texts sort by their
-- bytes (COLLATE "C"), as they do there; flags are 0 and 1.
-- Half of each page stays free: the row of a busy list is written anew with every save, and then stays on its page.
CREATE TABLE lists (
  group_id text COLLATE "C" PRIMARY KEY REFERENCES groups (id) ON DELETE CASCADE,
  version bigint NOT NULL,
  marks_version bigint NOT NULL,
  links bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE bookmarks (
  id text COLLATE "C" PRIMARY KEY,
  group_id text COLLATE "C" NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
  owner_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  url text COLLATE "C" NOT NULL,
  page_key text COLLATE "C" NOT NULL,
  note text COLLATE "C" NOT NULL,
  page_title text COLLATE "C",
  browser_title text COLLATE "C",
  hand_title text COLLATE "C",
  hand_title_by text COLLATE "C",
  title_status text COLLATE "C" NOT NULL,
  title_error text COLLATE "C",
  title_checked_at_ms bigint,
  title_tries integer NOT NULL,
  title_next_try_at_ms bigint,
  shown text COLLATE "C",
  final_key text COLLATE "C",
  title_mode text COLLATE "C",
  saved_at_ms bigint NOT NULL,
  edited_at_ms bigint,
  edited_by text COLLATE "C",
  version bigint NOT NULL,
  source_version bigint NOT NULL,
  list_version bigint NOT NULL,
  job_id text COLLATE "C",
  search text COLLATE "C" NOT NULL
);
CREATE INDEX bookmarks_in_order ON bookmarks (group_id, saved_at_ms, id, owner_id);
-- Hashed: an address may be longer than the 2,704 bytes that an entry of an ordered index can hold.
CREATE INDEX bookmarks_by_page ON bookmarks USING hash (page_key);
CREATE INDEX bookmarks_by_final_page ON bookmarks USING hash (final_key) WHERE final_key IS NOT NULL;
CREATE INDEX bookmarks_by_change ON bookmarks (group_id, list_version);

CREATE TABLE read_marks (
  group_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  bookmark_id text COLLATE "C" NOT NULL REFERENCES bookmarks (id) ON DELETE CASCADE,
  marked_at_ms bigint NOT NULL,
  PRIMARY KEY (group_id, user_id, bookmark_id)
);
CREATE INDEX read_marks_of_bookmark ON read_marks (bookmark_id, user_id);
