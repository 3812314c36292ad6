-- PostgreSQL. The table is explained in ../sqlite. Half of each page stays free, as with lists: a busy member's row is written
-- anew with every save.
CREATE TABLE list_totals (
  group_id text COLLATE "C" NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  links bigint NOT NULL,
  marks bigint NOT NULL,
  PRIMARY KEY (group_id, user_id)
) WITH (fillfactor = 50);

INSERT INTO list_totals
  SELECT group_id, user_id, sum(links), sum(marks) FROM (
    SELECT group_id, owner_id AS user_id, count(*) AS links, 0 AS marks FROM bookmarks GROUP BY group_id, owner_id
    UNION ALL
    SELECT group_id, user_id, 0, count(*) FROM read_marks GROUP BY group_id, user_id
  ) AS counted GROUP BY group_id, user_id;
