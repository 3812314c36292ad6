-- Claiming: the leases that have run out and the waiting times that are over come back first, then due jobs are taken in
-- order of priority, rank and id. All in one statement of the caller's, so one round trip and one commit.
--
-- A row that was locked in the same statement is written by its ctid only where nothing is lost if that misses it: when
-- somebody else had written it between the beginning of the statement and the lock.
--
-- A claim waits for nobody's rows: what somebody else holds at this moment is passed over (SKIP LOCKED). Only claims of a
-- kind with limits wait for each other, since they count what runs.

-- Ends attempts whose lease has run out (at most 500: the next claim goes on). Their jobs then come back like any whose
-- waiting time is over.
CREATE FUNCTION job_return_expired(p_kinds text[], p_now bigint) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  WITH over AS MATERIALIZED (
    SELECT j.* FROM jobs j WHERE j.state = 'running' AND j.kind = ANY (p_kinds) AND j.lease_until_ms <= p_now
    LIMIT 500 FOR UPDATE SKIP LOCKED
  ), recorded AS (
    INSERT INTO job_attempts SELECT o.id, o.epoch, o.generation, o.attempt, o.worker, o.started_at_ms, p_now,
      'lease_expired', 'lease_expired' FROM over o
  ), freed AS (
    INSERT INTO job_freed SELECT o.kind, o.key FROM over o
    WHERE EXISTS (SELECT FROM job_keys k WHERE k.kind = o.kind AND k.key = o.key AND k.is_held)
  )
  UPDATE jobs j SET state = 'ready', hold = 1, lease_until_ms = NULL, worker = NULL, started_at_ms = NULL,
    last_error = 'lease_expired'
  FROM over o WHERE j.id = o.id;
END $$;

-- Makes jobs claimable whose time has come, at most 500 of each kind. The rank is returningRank of rank.ts.
CREATE FUNCTION job_return_waiting(p_kinds text[], p_now bigint) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  WITH due AS MATERIALIZED (
    SELECT d.* FROM unnest(p_kinds) AS u(kind) CROSS JOIN LATERAL (
      SELECT j.ctid AS tid, j.id, j.tenant, j.priority, j.run_at_ms FROM jobs j
      WHERE j.state = 'ready' AND j.hold = 1 AND j.kind = u.kind COLLATE "C" AND j.run_at_ms <= p_now
      ORDER BY j.run_at_ms LIMIT 500 FOR UPDATE SKIP LOCKED) AS d
  ), placed AS (
    SELECT d.tid, d.tenant, d.priority,
      row_number() OVER (PARTITION BY d.tenant, d.priority ORDER BY d.run_at_ms, d.id) AS place FROM due d
  )
  UPDATE jobs j SET hold = 0, rank = greatest(j.rank, c.virtual_time + p.place * t.cost)
  FROM placed p JOIN job_tenants t ON t.tenant = p.tenant LEFT JOIN job_clock c ON c.priority = p.priority
  WHERE j.ctid = p.tid;
END $$;

-- Looks at keys whose time has come or one of whose jobs has left, and brings back as many of the jobs put aside for
-- them as have room, first in order first. Only under the kind's lock (job_claim).
--
-- A running job of the key that we cannot lock is about to leave, and one put aside that we cannot lock may go or stay:
-- then the key stays due, and the next claim looks again. Those that we did lock cannot leave before our commit, so
-- their note in job_freed comes after it.
CREATE FUNCTION job_look_at_keys(p_kinds text[], p_per_key integer[], p_spacing_ms bigint[], p_now bigint)
RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_kinds text[];
  v_priorities smallint[];
  v_ranks bigint[];
BEGIN
  WITH noted AS (
    DELETE FROM job_freed WHERE ctid = ANY (ARRAY(
      SELECT f.ctid FROM job_freed f WHERE f.kind = ANY (p_kinds) LIMIT 500 FOR UPDATE SKIP LOCKED))
    RETURNING kind, key
  ), looked AS MATERIALIZED (
    SELECT k.kind, k.key, k.next_at_ms, l.per_key, l.spacing_ms > 0 AND k.next_at_ms > p_now AS is_early,
      r.visible, r.locked, CASE WHEN l.spacing_ms > 0 AND k.next_at_ms > p_now THEN 0 WHEN l.spacing_ms > 0
        THEN greatest(least(1, l.per_key - r.visible), 0) ELSE greatest(least(500, l.per_key - r.visible), 0) END AS room
    FROM unnest(p_kinds, p_per_key, p_spacing_ms) AS l(kind, per_key, spacing_ms)
    CROSS JOIN LATERAL (
      -- Whoever knows of no spacing does not wait for it, and whoever knows of no limit at all waits for nothing.
      (SELECT d.key FROM job_keys d WHERE d.kind = l.kind COLLATE "C"
        AND d.due_at_ms <= CASE WHEN l.spacing_ms > 0 THEN p_now ELSE 9007199254740991 END LIMIT 500)
      UNION (SELECT h.key FROM job_keys h WHERE h.kind = l.kind COLLATE "C" AND h.is_held
        AND l.per_key IS NULL AND coalesce(l.spacing_ms, 0) = 0 LIMIT 500)
      UNION SELECT n.key FROM noted n WHERE n.kind = l.kind) AS due
    JOIN job_keys k ON k.kind = l.kind COLLATE "C" AND k.key = due.key
    CROSS JOIN LATERAL (SELECT
      (SELECT count(*) FROM jobs j WHERE j.state = 'running' AND j.kind = k.kind AND j.key = k.key) AS visible,
      (SELECT count(*) FROM (SELECT FROM jobs j WHERE j.state = 'running' AND j.kind = k.kind AND j.key = k.key
        FOR NO KEY UPDATE SKIP LOCKED) AS x) AS locked) AS r
  ), brought AS MATERIALIZED (
    SELECT l.kind, l.key, h.id FROM looked l CROSS JOIN LATERAL (SELECT j.id FROM jobs j
      WHERE j.state = 'ready' AND j.hold = 2 AND j.kind = l.kind AND j.key = l.key
      ORDER BY j.priority, j.rank, j.id LIMIT l.room FOR UPDATE SKIP LOCKED) AS h
  ), waiting AS (
    SELECT l.*, (SELECT count(*) FROM brought b WHERE b.kind = l.kind AND b.key = l.key) AS back,
      (SELECT count(*) FROM (SELECT FROM jobs j WHERE j.state = 'ready' AND j.hold = 2 AND j.kind = l.kind
        AND j.key = l.key LIMIT l.room + 1) AS x) AS held
    FROM looked l
  ), kept AS (
    UPDATE job_keys k SET is_held = w.held > w.back, due_at_ms = CASE WHEN w.is_early THEN w.next_at_ms
      WHEN w.locked < w.visible OR w.back < least(w.held, w.room) THEN p_now END
    FROM waiting w WHERE k.kind = w.kind AND k.key = w.key
  ), back AS (UPDATE jobs j SET hold = 0 FROM brought b WHERE j.id = b.id RETURNING j.kind, j.priority, j.rank
  )
  SELECT array_agg(b.kind), array_agg(b.priority), array_agg(b.rank) INTO v_kinds, v_priorities, v_ranks FROM back b;
  IF v_kinds IS NOT NULL THEN PERFORM job_doubt_heads(v_kinds, v_priorities, v_ranks); END IF;
END $$;

-- Whether a head is known to be where the jobs that wait begin; also after the clock was set back.
CREATE FUNCTION job_trusts(p_head job_heads, p_now bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT p_head.trusted_until_ms - p_now BETWEEN 1 AND 1000
$$;

-- From where to where a claim looks for the jobs of these kinds, in order of priority: from the heads that are known, or
-- from the very beginning.
CREATE FUNCTION job_ranges(p_kinds text[], p_is_full boolean, p_now bigint)
RETURNS TABLE (kind text, from_priority integer, from_rank bigint, to_priority integer) LANGUAGE sql STABLE AS $$
  SELECT u.kind COLLATE "C", -32768, -1::bigint, coalesce(min(h.priority) - 1, 32767)
  FROM unnest(p_kinds) AS u(kind)
  LEFT JOIN job_heads h ON h.kind = u.kind COLLATE "C" AND job_trusts(h, p_now) AND NOT p_is_full GROUP BY u.kind
  UNION ALL
  SELECT h.kind, h.priority, h.rank, coalesce(lead(h.priority) OVER (PARTITION BY h.kind ORDER BY h.priority) - 1, 32767)
  FROM job_heads h WHERE h.kind = ANY (p_kinds) AND job_trusts(h, p_now) AND NOT p_is_full
  ORDER BY 1, 2
$$;

-- What a claim has taken moves the heads of its kinds and the virtual times on. A row that another claim is writing stays
-- as it is: behind, which is safe.
CREATE FUNCTION job_advance(p_kinds text[], p_priorities smallint[], p_ranks bigint[], p_is_full boolean, p_now bigint)
RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  WITH taken AS MATERIALIZED (
    SELECT u.kind, u.priority, max(u.rank) AS rank FROM unnest(p_kinds, p_priorities, p_ranks) AS u(kind, priority, rank)
    GROUP BY u.kind, u.priority
  ), clock AS (
    UPDATE job_clock c SET virtual_time = f.rank FROM (
      SELECT m.priority, m.rank FROM (SELECT t.priority, max(t.rank) AS rank FROM taken t GROUP BY t.priority) AS m
      CROSS JOIN LATERAL (SELECT FROM job_clock k WHERE k.priority = m.priority AND k.virtual_time < m.rank
        FOR UPDATE SKIP LOCKED) AS l) AS f
    WHERE c.priority = f.priority AND c.virtual_time < f.rank
  ), heads AS (
    UPDATE job_heads h SET rank = f.rank,
      trusted_until_ms = CASE WHEN job_trusts(h, p_now) AND NOT p_is_full THEN h.trusted_until_ms ELSE p_now + 1000 END
    FROM (SELECT t.kind, t.priority, t.rank FROM taken t CROSS JOIN LATERAL (SELECT FROM job_heads k
      WHERE k.kind = t.kind COLLATE "C" AND k.priority = t.priority FOR UPDATE SKIP LOCKED) AS l) AS f
    WHERE h.kind = f.kind COLLATE "C" AND h.priority = f.priority
  )
  INSERT INTO job_heads SELECT t.kind, t.priority, t.rank, p_now + 1000 FROM taken t
  -- Two that both make the row would wait for each other's commit.
  WHERE CASE WHEN NOT EXISTS (SELECT FROM job_heads h WHERE h.kind = t.kind COLLATE "C" AND h.priority = t.priority)
    THEN pg_try_advisory_xact_lock(hashtextextended('garner.heads.' || t.kind, 0)) END
  ON CONFLICT DO NOTHING;
END $$;

-- Jobs of these kinds, priorities and ranks have become claimable out of their turn: the next claim shall not look
-- behind them. Waits for nobody; a head that is being moved at this moment stays trusted, for a second at the most.
CREATE FUNCTION job_doubt_heads(p_kinds text[], p_priorities smallint[], p_ranks bigint[])
RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  WITH behind AS MATERIALIZED (
    SELECT h.kind, h.priority FROM unnest(p_kinds, p_priorities, p_ranks) AS u(kind, priority, rank)
    JOIN job_heads h ON h.kind = u.kind COLLATE "C" AND h.priority = u.priority AND h.rank > u.rank
    FOR UPDATE OF h SKIP LOCKED)
  UPDATE job_heads h SET trusted_until_ms = 0 FROM behind b WHERE h.kind = b.kind AND h.priority = b.priority;
END $$;

-- Claims jobs of kinds without limits, in the given ranges.
CREATE FUNCTION job_take(
  p_worker text, p_limit integer, p_lease_ms bigint, p_kinds text[], p_is_full boolean, p_now bigint
) RETURNS SETOF jobs LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_tids tid[];
  v_kinds text[];
  v_priorities smallint[];
  v_ranks bigint[];
BEGIN
  WITH ranges AS MATERIALIZED (SELECT * FROM job_ranges(p_kinds, p_is_full, p_now)
  ), shares AS (
    SELECT p_kinds[1] AS kind, p_limit AS count WHERE cardinality(p_kinds) = 1
    UNION ALL
    SELECT f.kind, count(*)::integer FROM (
      SELECT r.kind FROM ranges r CROSS JOIN LATERAL (
        SELECT j.priority, j.rank, j.id FROM jobs j WHERE j.state = 'ready' AND j.hold = 0
          AND j.kind = r.kind COLLATE "C" AND (j.priority, j.rank) >= (r.from_priority, r.from_rank)
          AND j.priority <= r.to_priority ORDER BY j.priority, j.rank, j.id LIMIT p_limit) AS c
      WHERE cardinality(p_kinds) > 1 ORDER BY c.priority, c.rank, c.id LIMIT p_limit) AS f GROUP BY f.kind
  ), picked AS MATERIALIZED (
    SELECT c.* FROM shares s CROSS JOIN LATERAL (
      SELECT l.* FROM ranges r CROSS JOIN LATERAL (
        SELECT j.ctid AS tid, j.kind, j.priority, j.rank FROM jobs j WHERE j.state = 'ready' AND j.hold = 0
          AND j.kind = r.kind COLLATE "C" AND (j.priority, j.rank) >= (r.from_priority, r.from_rank)
          AND j.priority <= r.to_priority ORDER BY j.priority, j.rank, j.id LIMIT s.count FOR UPDATE SKIP LOCKED) AS l
      WHERE r.kind = s.kind LIMIT s.count) AS c)
  SELECT array_agg(p.tid), array_agg(p.kind), array_agg(p.priority), array_agg(p.rank)
  INTO v_tids, v_kinds, v_priorities, v_ranks FROM picked p;
  IF v_tids IS NULL THEN RETURN; END IF;
  PERFORM job_advance(v_kinds, v_priorities, v_ranks, p_is_full, p_now);
  RETURN QUERY UPDATE jobs j SET state = 'running', epoch = j.epoch + 1, attempt = j.attempt + 1, worker = p_worker,
    started_at_ms = p_now, lease_until_ms = p_now + p_lease_ms
  WHERE j.ctid = ANY (v_tids) RETURNING j.*;
END $$;

-- Claims jobs where kinds have limits, in rounds: what has no room is put aside (hold 2), once, so that it leaves the index
-- that claims look at, and others are looked at instead. Only under the kinds' locks (job_claim).
CREATE FUNCTION job_take_limited(
  p_worker text, p_limit integer, p_lease_ms bigint, p_kinds text[], p_per_key integer[], p_concurrency integer[],
  p_spacing_ms bigint[], p_is_full boolean, p_now bigint
) RETURNS SETOF jobs LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_left integer := p_limit;
  v_rooms bigint[];
  v_take tid[];
  v_aside tid[];
  v_kinds text[];
  v_priorities smallint[];
  v_ranks bigint[];
BEGIN
  LOOP
    SELECT array_agg(CASE WHEN u.concurrency IS NOT NULL THEN greatest(0, u.concurrency
      - (SELECT count(*) FROM jobs j WHERE j.state = 'running' AND j.kind = u.kind COLLATE "C")) END) INTO v_rooms
    FROM unnest(p_kinds, p_concurrency) AS u(kind, concurrency);
    WITH ranges AS MATERIALIZED (SELECT * FROM job_ranges(p_kinds, p_is_full, p_now)
    ), shares AS (
      SELECT f.kind, count(*) AS count FROM (
        SELECT u.kind FROM unnest(p_kinds, v_rooms) AS u(kind, room) CROSS JOIN LATERAL (
          SELECT l.* FROM ranges r CROSS JOIN LATERAL (
            SELECT j.priority, j.rank, j.id FROM jobs j WHERE j.state = 'ready' AND j.hold = 0
              AND j.kind = r.kind COLLATE "C" AND (j.priority, j.rank) >= (r.from_priority, r.from_rank)
              AND j.priority <= r.to_priority ORDER BY j.priority, j.rank, j.id LIMIT least(v_left, u.room)) AS l
          WHERE r.kind = u.kind COLLATE "C" LIMIT least(v_left, u.room)) AS c
        ORDER BY c.priority, c.rank, c.id LIMIT v_left) AS f GROUP BY f.kind
    ), picked AS MATERIALIZED (
      SELECT c.* FROM shares s CROSS JOIN LATERAL (
        SELECT l.* FROM ranges r CROSS JOIN LATERAL (
          SELECT j.ctid AS tid, j.id, j.kind, j.key, j.priority, j.rank FROM jobs j WHERE j.state = 'ready'
            AND j.hold = 0 AND j.kind = r.kind COLLATE "C" AND (j.priority, j.rank) >= (r.from_priority, r.from_rank)
            AND j.priority <= r.to_priority
          ORDER BY j.priority, j.rank, j.id LIMIT s.count FOR UPDATE SKIP LOCKED) AS l
        WHERE r.kind = s.kind COLLATE "C" LIMIT s.count) AS c
    ), keyed AS MATERIALIZED (
      SELECT p.kind, p.key, l.per_key, coalesce(l.spacing_ms, 0) AS spacing_ms, coalesce(k.is_held, false) AS is_held,
        coalesce(k.next_at_ms, 0) AS next_at_ms, r.visible, r.locked
      FROM (SELECT DISTINCT d.kind, d.key FROM picked d WHERE d.key IS NOT NULL) AS p
      JOIN unnest(p_kinds, p_per_key, p_spacing_ms) AS l(kind, per_key, spacing_ms)
        ON l.kind = p.kind AND (l.per_key IS NOT NULL OR l.spacing_ms > 0)
      LEFT JOIN job_keys k ON k.kind = p.kind AND k.key = p.key
      CROSS JOIN LATERAL (SELECT
        (SELECT count(*) FROM jobs j WHERE j.state = 'running' AND j.kind = p.kind AND j.key = p.key) AS visible,
        (SELECT count(*) FROM (SELECT FROM jobs j WHERE j.state = 'running' AND j.kind = p.kind AND j.key = p.key
          FOR NO KEY UPDATE SKIP LOCKED) AS x) AS locked) AS r
    ), judged AS MATERIALIZED (
      SELECT p.tid, p.kind, p.key, p.priority, p.rank, k.kind IS NULL OR row_number() OVER (PARTITION BY p.kind, p.key
        ORDER BY p.priority, p.rank, p.id) <= CASE WHEN k.spacing_ms > 0 AND k.next_at_ms > p_now THEN 0
        WHEN k.spacing_ms > 0 THEN least(1, k.per_key - k.visible) ELSE k.per_key - k.visible END AS fits
      FROM picked p LEFT JOIN keyed k ON k.kind = p.kind AND k.key = p.key
    ), kept AS (
      INSERT INTO job_keys SELECT n.kind, n.key, n.is_held, CASE WHEN NOT n.is_held THEN NULL
        WHEN n.locked < n.visible THEN p_now WHEN n.spacing_ms > 0 THEN n.next_at_ms END, n.next_at_ms
      FROM (
        SELECT k.kind, k.key, k.spacing_ms, k.locked, k.visible, k.is_held OR bool_or(NOT d.fits) AS is_held,
          CASE WHEN k.spacing_ms > 0 AND bool_or(d.fits) THEN p_now + k.spacing_ms ELSE k.next_at_ms END AS next_at_ms
        FROM keyed k JOIN judged d ON d.kind = k.kind AND d.key = k.key
        GROUP BY k.kind, k.key, k.spacing_ms, k.locked, k.visible, k.is_held, k.next_at_ms) AS n
      WHERE n.is_held OR n.spacing_ms > 0
      ON CONFLICT (kind, key) DO UPDATE
        SET is_held = excluded.is_held, due_at_ms = excluded.due_at_ms, next_at_ms = excluded.next_at_ms
    )
    SELECT coalesce(array_agg(d.tid) FILTER (WHERE d.fits), '{}'), coalesce(array_agg(d.tid) FILTER (WHERE NOT d.fits), '{}'),
      array_agg(d.kind) FILTER (WHERE d.fits), array_agg(d.priority) FILTER (WHERE d.fits),
      array_agg(d.rank) FILTER (WHERE d.fits)
    INTO v_take, v_aside, v_kinds, v_priorities, v_ranks FROM judged d;
    UPDATE jobs j SET hold = 2 WHERE j.ctid = ANY (v_aside);
    IF v_take <> '{}' THEN
      PERFORM job_advance(v_kinds, v_priorities, v_ranks, p_is_full, p_now);
      RETURN QUERY UPDATE jobs j SET state = 'running', epoch = j.epoch + 1, attempt = j.attempt + 1, worker = p_worker,
        started_at_ms = p_now, lease_until_ms = p_now + p_lease_ms
      WHERE j.ctid = ANY (v_take) RETURNING j.*;
    END IF;
    v_left := v_left - cardinality(v_take);
    EXIT WHEN v_left = 0 OR cardinality(v_aside) = 0;
  END LOOP;
END $$;

-- Claims up to p_limit jobs of the given kinds, each once. p_per_key, p_concurrency, p_spacing_ms: null for no limit.
-- A row without an id instead of any job says what to do before asking again: its state is `schedules`, they are due and
-- to be fired; or `held`, leases have run out, but somebody is writing to those jobs at this moment.
CREATE FUNCTION job_claim(
  p_worker text, p_limit integer, p_lease_ms bigint, p_kinds text[], p_per_key integer[], p_concurrency integer[],
  p_spacing_ms bigint[], p_with_schedules boolean, p_now bigint
) RETURNS SETOF jobs LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_kinds text[];
  v_per_key integer[];
  v_spacing_ms bigint[];
  v_concurrency integer[];
  v_turns text[];
  v_now bigint;
  v_instead jobs;
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
    v_instead.state := 'schedules';
    RETURN NEXT v_instead;
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
      RETURN QUERY SELECT * FROM job_take(p_worker, p_limit, p_lease_ms, v_kinds, v_look = 1, v_now);
    ELSE
      RETURN QUERY SELECT * FROM job_take_limited(p_worker, p_limit, p_lease_ms, v_kinds, v_per_key, v_concurrency,
        v_spacing_ms, v_look = 1, v_now);
    END IF;
    IF FOUND THEN RETURN; END IF;
  END LOOP;
  IF EXISTS (SELECT FROM jobs j WHERE j.state = 'running' AND j.kind = ANY (v_kinds) AND j.lease_until_ms <= v_now) THEN
    v_instead.state := 'held';
    RETURN NEXT v_instead;
  END IF;
END $$;

-- Ms until a claim of these kinds may find something, null when nothing waits.
CREATE FUNCTION job_next_due(p_kinds text[], p_now bigint) RETURNS bigint LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_now bigint := job_now(p_now);
  v_at bigint;
BEGIN
  SELECT min(CASE
    WHEN EXISTS (SELECT FROM job_ranges(ARRAY[u.kind], false, v_now) r CROSS JOIN LATERAL (SELECT FROM jobs j
        WHERE j.state = 'ready' AND j.hold = 0 AND j.kind = u.kind COLLATE "C" AND j.priority <= r.to_priority
          AND (j.priority, j.rank) >= (r.from_priority, r.from_rank) ORDER BY j.priority, j.rank LIMIT 1) AS c)
      OR EXISTS (SELECT FROM jobs j WHERE j.state = 'ready' AND j.hold = 0 AND j.kind = u.kind COLLATE "C") THEN 0
    ELSE least(
      (SELECT j.run_at_ms FROM jobs j WHERE j.state = 'ready' AND j.hold = 1 AND j.kind = u.kind COLLATE "C"
        ORDER BY j.run_at_ms LIMIT 1),
      (SELECT j.lease_until_ms FROM jobs j WHERE j.state = 'running' AND j.kind = u.kind COLLATE "C"
        ORDER BY j.lease_until_ms LIMIT 1),
      (SELECT d.due_at_ms FROM job_keys d WHERE d.kind = u.kind COLLATE "C" AND d.due_at_ms IS NOT NULL
        AND EXISTS (SELECT FROM jobs j WHERE j.state = 'ready' AND j.hold = 2 AND j.kind = d.kind AND j.key = d.key)
        ORDER BY d.due_at_ms LIMIT 1),
      (SELECT min(k.next_at_ms) FROM job_freed f JOIN job_keys k ON k.kind = f.kind AND k.key = f.key
        WHERE f.kind = u.kind COLLATE "C"
        AND EXISTS (SELECT FROM jobs j WHERE j.state = 'ready' AND j.hold = 2 AND j.kind = f.kind AND j.key = f.key)),
      (SELECT s.next_at_ms FROM job_schedules s WHERE s.kind = u.kind COLLATE "C" ORDER BY s.next_at_ms LIMIT 1)
    ) END) INTO v_at
  FROM unnest(p_kinds) AS u(kind)
  WHERE NOT EXISTS (SELECT FROM job_kinds p WHERE p.kind = u.kind COLLATE "C"
    AND (p.until_ms IS NULL OR p.until_ms > v_now));
  RETURN CASE WHEN v_at IS NOT NULL THEN greatest(0, v_at - v_now) END;
END $$;
