-- A claim that hands its jobs over once, where job_claim of 0003 copies them twice on their way (from job_take, and to its
-- caller), and that says of each only what the caller cannot know: all of them are running, of one worker, under one lease.
-- In all else it is job_claim, which stays for processes of the version before.

-- Claims up to p_limit jobs of the given kinds, each once. p_per_key, p_concurrency, p_spacing_ms: null for no limit.
-- A row without an id instead of any job says in its kind what to do before asking again: `schedules`, they are due and to
-- be fired; or `held`, leases have run out, but somebody is writing to those jobs at this moment.
CREATE FUNCTION job_claim_due(
  p_worker text, p_limit integer, p_lease_ms bigint, p_kinds text[], p_per_key integer[], p_concurrency integer[],
  p_spacing_ms bigint[], p_with_schedules boolean, p_now bigint
) RETURNS TABLE (
  id text, kind text, tenant text, payload text, subject text, subject_version bigint, key text, priority smallint,
  rank bigint, run_at_ms bigint, attempt integer, epoch bigint, generation integer, submitted_at_ms bigint,
  deadline_at_ms bigint, started_at_ms bigint, last_error text, result text, progress text
) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_kinds text[];
  v_per_key integer[];
  v_spacing_ms bigint[];
  v_concurrency integer[];
  v_turns text[];
  v_now bigint;
  v_tids tid[];
  v_taken_kinds text[];
  v_priorities smallint[];
  v_ranks bigint[];
BEGIN
  SELECT array_agg(u.kind), array_agg(u.per_key), array_agg(u.concurrency), array_agg(u.spacing_ms)
  INTO v_kinds, v_per_key, v_concurrency, v_spacing_ms
  FROM unnest(p_kinds, p_per_key, p_concurrency, p_spacing_ms) AS u(kind, per_key, concurrency, spacing_ms)
  WHERE NOT EXISTS (SELECT FROM job_kinds k WHERE k.kind = u.kind COLLATE "C" AND (k.until_ms IS NULL OR k.until_ms >
    job_now(p_now)));
  IF v_kinds IS NULL THEN RETURN; END IF;
  -- Kinds with limits, or with keys from a time when they had some, take turns.
  v_turns := ARRAY(SELECT u.kind FROM unnest(v_kinds, v_per_key, v_concurrency, v_spacing_ms)
    AS u(kind, per_key, concurrency, spacing_ms)
    WHERE u.per_key IS NOT NULL OR u.concurrency IS NOT NULL OR u.spacing_ms > 0
      OR EXISTS (SELECT FROM job_freed f WHERE f.kind = u.kind COLLATE "C")
      OR EXISTS (SELECT FROM job_keys h WHERE h.kind = u.kind COLLATE "C" AND h.is_held)
    ORDER BY u.kind COLLATE "C");
  FOR v_turn IN 1 .. cardinality(v_turns) LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended('garner.jobs.' || v_turns[v_turn], 0));
  END LOOP;
  v_now := job_now(p_now);
  IF p_with_schedules AND EXISTS (SELECT FROM job_schedules s WHERE s.kind = ANY (v_kinds) AND s.next_at_ms <= v_now) THEN
    kind := 'schedules';
    RETURN NEXT;
    RETURN;
  END IF;
  IF EXISTS (SELECT FROM jobs j WHERE j.state = 'running' AND j.kind = ANY (v_kinds) AND j.lease_until_ms <= v_now) THEN
    PERFORM job_return_expired(v_kinds, v_now);
  END IF;
  IF EXISTS (SELECT FROM jobs j WHERE j.state = 'ready' AND j.hold = 1 AND j.kind = ANY (v_kinds)
    AND j.run_at_ms <= v_now) THEN
    PERFORM job_return_waiting(v_kinds, v_now);
  END IF;

  IF v_turns <> '{}' THEN PERFORM job_look_at_keys(v_kinds, v_per_key, v_spacing_ms, v_now); END IF;
  -- First from where the jobs that wait are known to begin; if there are none, from the very beginning.
  FOR v_look IN 0 .. 1 LOOP
    IF v_turns = '{}' THEN
      WITH ranges AS MATERIALIZED (SELECT * FROM job_ranges(v_kinds, v_look = 1, v_now)
      ), shares AS (
        SELECT v_kinds[1] AS kind, p_limit AS count WHERE cardinality(v_kinds) = 1
        UNION ALL
        SELECT f.kind, count(*)::integer FROM (
          SELECT r.kind FROM ranges r CROSS JOIN LATERAL (
            SELECT j.priority, j.rank, j.id FROM jobs j WHERE j.state = 'ready' AND j.hold = 0
              AND j.kind = r.kind COLLATE "C" AND (j.priority, j.rank) >= (r.from_priority, r.from_rank)
              AND j.priority <= r.to_priority ORDER BY j.priority, j.rank, j.id LIMIT p_limit) AS c
          WHERE cardinality(v_kinds) > 1 ORDER BY c.priority, c.rank, c.id LIMIT p_limit) AS f GROUP BY f.kind
      ), picked AS MATERIALIZED (
        SELECT c.* FROM shares s CROSS JOIN LATERAL (
          SELECT l.* FROM ranges r CROSS JOIN LATERAL (
            SELECT j.ctid AS tid, j.kind, j.priority, j.rank FROM jobs j WHERE j.state = 'ready' AND j.hold = 0
              AND j.kind = r.kind COLLATE "C" AND (j.priority, j.rank) >= (r.from_priority, r.from_rank)
              AND j.priority <= r.to_priority ORDER BY j.priority, j.rank, j.id LIMIT s.count FOR UPDATE SKIP LOCKED) AS l
          WHERE r.kind = s.kind LIMIT s.count) AS c
      -- Of each kind and priority, how far this claim goes.
      ), furthest AS (SELECT p.kind, p.priority, max(p.rank) AS rank FROM picked p GROUP BY p.kind, p.priority)
      SELECT (SELECT array_agg(p.tid) FROM picked p), array_agg(f.kind), array_agg(f.priority), array_agg(f.rank)
      INTO v_tids, v_taken_kinds, v_priorities, v_ranks FROM furthest f;
      IF v_tids IS NOT NULL THEN
        PERFORM job_advance(v_taken_kinds, v_priorities, v_ranks, v_look = 1, v_now);
        RETURN QUERY UPDATE jobs j SET state = 'running', epoch = j.epoch + 1, attempt = j.attempt + 1, worker = p_worker,
          started_at_ms = v_now, lease_until_ms = v_now + p_lease_ms
        WHERE j.ctid = ANY (v_tids)
        RETURNING j.id, j.kind, j.tenant, j.payload, j.subject, j.subject_version, j.key, j.priority, j.rank, j.run_at_ms,
          j.attempt, j.epoch, j.generation, j.submitted_at_ms, j.deadline_at_ms, j.started_at_ms, j.last_error, j.result,
          j.progress;
        IF FOUND THEN RETURN; END IF;
      END IF;
    ELSE
      RETURN QUERY SELECT j.id, j.kind, j.tenant, j.payload, j.subject, j.subject_version, j.key, j.priority, j.rank,
        j.run_at_ms, j.attempt, j.epoch, j.generation, j.submitted_at_ms, j.deadline_at_ms, j.started_at_ms, j.last_error,
        j.result, j.progress
      FROM job_take_limited(p_worker, p_limit, p_lease_ms, v_kinds, v_per_key, v_concurrency, v_spacing_ms, v_look = 1,
        v_now) j;
      IF FOUND THEN RETURN; END IF;
    END IF;
  END LOOP;
  IF EXISTS (SELECT FROM jobs j WHERE j.state = 'running' AND j.kind = ANY (v_kinds) AND j.lease_until_ms <= v_now) THEN
    kind := 'held';
    RETURN NEXT;
  END IF;
END $$;
