-- The fence (J3, J4): only the current epoch, while its lease holds, may end a job. A publication that may not is told
-- why, and counted if it was stale.

-- Why the claims of these jobs and epochs may not publish; a null answer where they may.
CREATE FUNCTION job_standing(p_ids text[], p_epochs bigint[], p_now bigint)
RETURNS TABLE (id text, kind text, answer text) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN QUERY SELECT u.id, j.kind::text, CASE
    WHEN j.id IS NULL THEN 'superseded' -- gone with its subject: quietly, nothing comes back to life
    WHEN j.epoch < u.epoch THEN 'epoch-went-down'
    WHEN past.outcome = 'superseded' THEN 'superseded'
    WHEN past.outcome = 'cancelled' THEN 'discarded'
    WHEN past.outcome <> 'lease_expired' THEN 'already-published'
    WHEN j.epoch = u.epoch AND j.state = 'running' AND j.lease_until_ms > p_now THEN NULL
    ELSE 'stale-epoch' END
  FROM unnest(p_ids, p_epochs) AS u(id, epoch) LEFT JOIN jobs j ON j.id = u.id COLLATE "C"
  LEFT JOIN LATERAL (
    SELECT j.state AS outcome WHERE j.epoch = u.epoch AND j.worker IS NOT NULL AND j.state <> 'running'
    UNION ALL SELECT a.outcome FROM job_attempts a WHERE a.job_id = j.id AND a.epoch = u.epoch) AS past ON true;
END $$;

-- Jobs of these kinds and keys have stopped running, or waiting: if others are put aside for such a key, the next claim
-- shall look at it. A statement of its own, so that it sees what a claim did whose commit ours has waited for.
CREATE FUNCTION job_free(p_kinds text[], p_keys text[]) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off AS $$
BEGIN
  INSERT INTO job_freed SELECT DISTINCT u.kind, u.key FROM unnest(p_kinds, p_keys) AS u(kind, key)
  WHERE EXISTS (SELECT FROM job_keys k WHERE k.kind = u.kind COLLATE "C" AND k.key = u.key COLLATE "C" AND k.is_held);
END $$;

-- Locks the jobs (in order of id) for publications with writes of their own, until this transaction ends. Answers those
-- that may not publish.
CREATE FUNCTION job_fence(p_ids text[], p_epochs bigint[], p_now bigint)
RETURNS TABLE (id text, answer text) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_now bigint;
BEGIN
  PERFORM FROM jobs j WHERE j.id = ANY (p_ids) ORDER BY j.id FOR NO KEY UPDATE;
  v_now := job_now(p_now);
  RETURN QUERY SELECT s.id, s.answer FROM job_standing(p_ids, p_epochs, v_now) s WHERE s.answer IS NOT NULL;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM job_count(array_agg(s.kind), array_agg('stale_publications'::text), array_agg(s.count)) FROM (
    SELECT t.kind, count(*) AS count FROM job_standing(p_ids, p_epochs, v_now) t
    WHERE t.answer = 'stale-epoch' GROUP BY t.kind) AS s HAVING count(*) > 0;
END $$;

-- Ends claims, each job once. p_outcomes: the state that the job ends in, or `retried`, `uncounted` (a retry that does
-- not count as a try) or `released`. p_outcomes that is shorter than p_ids says its first value for the rest; the others,
-- nothing. Results are JSON texts with a line feed between them; an empty one is none.
-- Answers those that were not ended, and why; with p_is_strict it fails instead, since something was written for them.
CREATE FUNCTION job_publish(
  p_ids text[], p_epochs bigint[], p_outcomes text[], p_reasons text[], p_results text, p_run_at_ms bigint[],
  p_is_strict boolean, p_now bigint
) RETURNS TABLE (id text, answer text) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_now bigint := job_now(p_now);
  v_ended text[];
  v_back text[] := '{}';
  v_tenants text[];
  v_left bigint[];
  v_kinds text[];
  v_names text[];
  v_counts bigint[];
  v_key_kinds text[];
  v_keys text[];
  v_back_kinds text[];
  v_back_priorities smallint[];
  v_back_ranks bigint[];
BEGIN
  -- Nested loops, so that rows are locked in the order of p_ids, which is that of their ids. The fence is written as a
  -- CASE, which the planner does not look into: it would go through all running jobs for each publication.
  WITH ended AS (
    UPDATE jobs j SET state = coalesce(u.outcome, p_outcomes[1]), lease_until_ms = NULL, finished_at_ms = v_now,
      last_error = u.reason, result = u.result
    FROM unnest(p_ids, p_epochs, p_outcomes, p_reasons, string_to_array(p_results, E'\n', ''))
      AS u(id, epoch, outcome, reason, result)
    WHERE j.id = u.id COLLATE "C" AND CASE j.state WHEN 'running' THEN j.epoch = u.epoch AND j.lease_until_ms > v_now END
      AND coalesce(u.outcome, p_outcomes[1]) NOT IN ('retried', 'uncounted', 'released')
    RETURNING j.id, j.kind, j.tenant, j.key, j.state
  ), tenants AS (SELECT e.tenant, count(*) AS count FROM ended e GROUP BY e.tenant
  ), kinds AS (SELECT e.kind, e.state, count(*) AS count FROM ended e GROUP BY e.kind, e.state)
  SELECT (SELECT array_agg(e.id) FROM ended e), (SELECT array_agg(t.tenant) FROM tenants t),
    (SELECT array_agg(t.count) FROM tenants t), (SELECT array_agg(k.kind) FROM kinds k),
    (SELECT array_agg('finished:' || k.state) FROM kinds k), (SELECT array_agg(k.count) FROM kinds k),
    (SELECT array_agg(e.kind) FROM ended e WHERE e.key IS NOT NULL),
    (SELECT array_agg(e.key) FROM ended e WHERE e.key IS NOT NULL)
  INTO v_ended, v_tenants, v_left, v_kinds, v_names, v_counts, v_key_kinds, v_keys;

  IF p_outcomes && ARRAY['retried', 'uncounted', 'released'] THEN
    WITH back AS MATERIALIZED (
      SELECT j.*, coalesce(u.outcome, p_outcomes[1]) AS outcome, u.reason,
        coalesce(u.run_at_ms, v_now) AS next_at_ms
      FROM unnest(p_ids, p_epochs, p_outcomes, p_reasons, p_run_at_ms) AS u(id, epoch, outcome, reason, run_at_ms)
      JOIN jobs j ON j.id = u.id COLLATE "C"
      WHERE CASE j.state WHEN 'running' THEN j.epoch = u.epoch AND j.lease_until_ms > v_now END AND coalesce(u.outcome, p_outcomes[1]) IN ('retried', 'uncounted', 'released') FOR UPDATE OF j
    ), recorded AS (
      INSERT INTO job_attempts SELECT b.id, b.epoch, b.generation, b.attempt, b.worker, b.started_at_ms, v_now,
        CASE b.outcome WHEN 'uncounted' THEN 'retried' ELSE b.outcome END, b.reason FROM back b
    ), returned AS (
      UPDATE jobs j SET state = 'ready', hold = (b.outcome <> 'released')::integer, run_at_ms = b.next_at_ms,
        attempt = j.attempt - (b.outcome <> 'retried')::integer, last_error = coalesce(b.reason, j.last_error),
        lease_until_ms = NULL, worker = NULL, started_at_ms = NULL
      FROM back b WHERE j.id = b.id
    ), retries AS (SELECT b.kind, count(*) AS count FROM back b WHERE b.outcome <> 'released' GROUP BY b.kind)
    SELECT coalesce((SELECT array_agg(b.id) FROM back b), '{}'),
      v_kinds || (SELECT array_agg(r.kind) FROM retries r), v_names || (SELECT array_agg('retries'::text) FROM retries r),
      v_counts || (SELECT array_agg(r.count) FROM retries r),
      v_key_kinds || (SELECT array_agg(b.kind) FROM back b WHERE b.key IS NOT NULL),
      v_keys || (SELECT array_agg(b.key) FROM back b WHERE b.key IS NOT NULL),
      (SELECT array_agg(b.kind) FROM back b WHERE b.outcome = 'released'),
      (SELECT array_agg(b.priority) FROM back b WHERE b.outcome = 'released'),
      (SELECT array_agg(b.rank) FROM back b WHERE b.outcome = 'released')
    INTO v_back, v_kinds, v_names, v_counts, v_key_kinds, v_keys, v_back_kinds, v_back_priorities, v_back_ranks;
    IF v_back_kinds IS NOT NULL THEN PERFORM job_doubt_heads(v_back_kinds, v_back_priorities, v_back_ranks); END IF;
  END IF;

  IF coalesce(cardinality(v_ended), 0) + cardinality(v_back) < cardinality(p_ids) THEN
    IF p_is_strict THEN
      RAISE EXCEPTION 'A lease ran out inside its publication.' USING ERRCODE = 'GJ001';
    END IF;
    -- Not ended, so the answer cannot be "yes" any more, however it may look by now.
    RETURN QUERY SELECT s.id, coalesce(s.answer, 'stale-epoch') FROM job_standing(p_ids, p_epochs, v_now) s
      WHERE s.id <> ALL (v_ended || v_back);
    WITH stale AS (SELECT s.kind, count(*) AS count FROM job_standing(p_ids, p_epochs, v_now) s
      WHERE s.id <> ALL (v_ended || v_back) AND coalesce(s.answer, 'stale-epoch') = 'stale-epoch' GROUP BY s.kind)
    SELECT v_kinds || array_agg(s.kind), v_names || array_agg('stale_publications'::text), v_counts || array_agg(s.count)
    INTO v_kinds, v_names, v_counts FROM stale s;
  END IF;
  IF v_left IS NOT NULL THEN PERFORM job_leave(v_tenants, v_left); END IF;
  IF v_counts IS NOT NULL THEN PERFORM job_count(v_kinds, v_names, v_counts); END IF;
  IF v_keys IS NOT NULL THEN PERFORM job_free(v_key_kinds, v_keys); END IF;
  IF (v_back <> '{}' OR v_keys IS NOT NULL) AND EXISTS (SELECT FROM job_resting r WHERE r.until_ms > v_now) THEN
    PERFORM pg_notify('garner_jobs', '');
  END IF;
END $$;

-- Extends leases to p_lease_ms from now; answers whose. A row that somebody holds at this moment (its own publication,
-- mostly) is not waited for, since others' leases would run out meanwhile: it is answered as it stands, and extended by
-- the next heartbeat.
CREATE FUNCTION job_heartbeat(p_ids text[], p_epochs bigint[], p_lease_ms bigint, p_now bigint)
RETURNS TABLE (id text, epoch bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_now bigint := job_now(p_now);
  v_extended text[];
BEGIN
  WITH free AS MATERIALIZED (
    SELECT j.id FROM unnest(p_ids, p_epochs) AS u(id, epoch) JOIN jobs j ON j.id = u.id COLLATE "C"
    WHERE CASE j.state WHEN 'running' THEN j.epoch = u.epoch AND j.lease_until_ms > v_now END
    FOR NO KEY UPDATE OF j SKIP LOCKED
  ), extended AS (
    UPDATE jobs j SET lease_until_ms = v_now + p_lease_ms FROM free f WHERE j.id = f.id RETURNING j.id
  )
  SELECT array_agg(e.id) INTO v_extended FROM extended e;
  RETURN QUERY SELECT u.id, u.epoch FROM unnest(p_ids, p_epochs) AS u(id, epoch) JOIN jobs j ON j.id = u.id COLLATE "C"
    WHERE CASE j.state WHEN 'running' THEN j.epoch = u.epoch AND (j.id = ANY (v_extended) OR j.lease_until_ms > v_now) END;
END $$;
