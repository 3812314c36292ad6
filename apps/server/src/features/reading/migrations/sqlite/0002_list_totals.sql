-- What each member sees counted beside a list: the links that they have saved to it, and those that they have read. Kept as
-- rows: counting them anew takes as long as the list is, at each first page.
CREATE TABLE list_totals (
  group_id TEXT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  links INTEGER NOT NULL,
  marks INTEGER NOT NULL,
  PRIMARY KEY (group_id, user_id)
) STRICT, WITHOUT ROWID;

INSERT INTO list_totals
  SELECT group_id, user_id, sum(links), sum(marks) FROM (
    SELECT group_id, owner_id AS user_id, count(*) AS links, 0 AS marks FROM bookmarks GROUP BY group_id, owner_id
    UNION ALL
    SELECT group_id, user_id, 0, count(*) FROM read_marks GROUP BY group_id, user_id
  ) AS counted GROUP BY group_id, user_id;
