-- Whatever decides who somebody is and what they may read is announced in the transaction that changes it, so that other
-- processes forget at once what they remember of it (access-news.ts). By triggers, because these rows have several writers:
-- ours, Better Auth, and an operator at the database's own prompt.
--
-- A notification makes commits wait for each other, so none comes from what happens all the time: sessions and tokens that
-- are made (nobody remembers that somebody was refused), a token's last use, what is saved and read. Said several times in
-- one transaction it is sent once.
CREATE FUNCTION access_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('garner_access', '');
  RETURN NULL;
END $$;

CREATE TRIGGER user_changed AFTER UPDATE ON users FOR EACH ROW
  WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION access_changed();
CREATE TRIGGER user_gone AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION access_changed();

CREATE TRIGGER session_changed AFTER UPDATE OR DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION access_changed();

CREATE TRIGGER token_changed AFTER UPDATE OF user_id, hash OR DELETE ON api_tokens FOR EACH ROW
  EXECUTE FUNCTION access_changed();

CREATE TRIGGER membership_changed AFTER INSERT OR UPDATE OF group_id, user_id OR DELETE ON memberships FOR EACH ROW
  EXECUTE FUNCTION access_changed();
