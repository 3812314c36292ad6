-- What happens to jobs from outside their attempts, in the caller's own transaction: their subject moves on or goes, an
-- operator acts. The jobs' rows are locked until that transaction ends; whoever publishes one of them waits for it.

-- Ends these jobs, which the caller's transaction has locked, as p_state. An attempt that is cut short made no error; one that had ended before keeps what is known
-- of its end.
CREATE FUNCTION job_end(p_ids text[], p_state text, p_now bigint) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_now bigint := job_now(p_now);
  v_tenants text[];
  v_left bigint[];
  v_kinds text[];
  v_counts bigint[];
  v_key_kinds text[];
  v_keys text[];
BEGIN
  WITH ending AS MATERIALIZED (
    SELECT j.* FROM jobs j WHERE j.id = ANY (p_ids)
  ), recorded AS (
    INSERT INTO job_attempts SELECT e.id, e.epoch, e.generation, e.attempt, e.worker, e.started_at_ms, e.finished_at_ms,
      e.state, e.last_error FROM ending e WHERE e.worker IS NOT NULL AND e.state <> 'running'
  ), ended AS (
    UPDATE jobs j SET state = p_state, hold = 0, lease_until_ms = NULL, finished_at_ms = v_now,
      last_error = CASE e.state WHEN 'running' THEN NULL ELSE j.last_error END,
      worker = CASE e.state WHEN 'running' THEN j.worker END,
      started_at_ms = CASE e.state WHEN 'running' THEN j.started_at_ms END
    FROM ending e WHERE j.id = e.id
  ), tenants AS (
    SELECT e.tenant, count(*) AS count FROM ending e WHERE e.state IN ('ready', 'running') GROUP BY e.tenant
  ), kinds AS (SELECT e.kind, count(*) AS count FROM ending e GROUP BY e.kind)
  SELECT (SELECT array_agg(t.tenant) FROM tenants t), (SELECT array_agg(t.count) FROM tenants t),
    (SELECT array_agg(k.kind) FROM kinds k), (SELECT array_agg(k.count) FROM kinds k),
    (SELECT array_agg(e.kind) FROM ending e WHERE e.key IS NOT NULL),
    (SELECT array_agg(e.key) FROM ending e WHERE e.key IS NOT NULL)
  INTO v_tenants, v_left, v_kinds, v_counts, v_key_kinds, v_keys;
  IF v_left IS NOT NULL THEN PERFORM job_leave(v_tenants, v_left); END IF;
  IF v_counts IS NOT NULL THEN
    PERFORM job_count(v_kinds, array_fill('finished:' || p_state, ARRAY[cardinality(v_kinds)]), v_counts);
  END IF;
  IF v_keys IS NOT NULL THEN PERFORM job_free(v_key_kinds, v_keys); END IF;
  PERFORM job_announce(v_now);
END $$;

-- Removes these jobs, which the caller's transaction has locked, with all that is known of them. Totals, ranks and what was used of allowances stay.
CREATE FUNCTION job_forget(p_ids text[], p_now bigint) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_tenants text[];
  v_left bigint[];
  v_key_kinds text[];
  v_keys text[];
BEGIN
  WITH gone AS (
    DELETE FROM jobs j WHERE j.id = ANY (p_ids) RETURNING j.id, j.kind, j.tenant, j.key, j.state, j.operation_id
  ), attempts AS (
    DELETE FROM job_attempts a USING gone g WHERE a.job_id = g.id
  ), steps AS (
    DELETE FROM job_steps s USING gone g WHERE s.job_id = g.id
  ), operations AS (
    DELETE FROM job_operations o USING gone g WHERE o.tenant = g.tenant AND o.operation_id = g.operation_id
      AND o.job_id = g.id
  ), tenants AS (
    SELECT g.tenant, count(*) AS count FROM gone g WHERE g.state IN ('ready', 'running') GROUP BY g.tenant)
  SELECT (SELECT array_agg(t.tenant) FROM tenants t), (SELECT array_agg(t.count) FROM tenants t),
    (SELECT array_agg(g.kind) FROM gone g WHERE g.key IS NOT NULL),
    (SELECT array_agg(g.key) FROM gone g WHERE g.key IS NOT NULL)
  INTO v_tenants, v_left, v_key_kinds, v_keys;
  IF v_left IS NOT NULL THEN PERFORM job_leave(v_tenants, v_left); END IF;
  IF v_keys IS NOT NULL THEN PERFORM job_free(v_key_kinds, v_keys); END IF;
  PERFORM job_announce(job_now(p_now));
END $$;

-- Starts a new generation of an ended job, or makes a waiting one due now. refusal: null, or the bound that left no room,
-- with `taken` jobs pending. The rank is nextRank of rank.ts: a thousand repaired jobs of one tenant queue behind each
-- other, not before everyone.
CREATE FUNCTION job_repair(
  p_id text, p_is_bounded boolean, p_per_tenant bigint, p_total bigint, p_now bigint, OUT refusal text, OUT taken bigint
) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_now bigint := job_now(p_now);
  v_job jobs;
  v_rank bigint;
  v_total bigint;
BEGIN
  SELECT j.* INTO v_job FROM jobs j WHERE j.id = p_id COLLATE "C" FOR UPDATE;
  IF NOT FOUND OR v_job.state IN ('running', 'superseded') THEN RETURN; END IF;
  IF v_job.state = 'ready' THEN
    UPDATE jobs j SET hold = 0, run_at_ms = v_now WHERE j.id = v_job.id;
    PERFORM job_doubt_heads(ARRAY[v_job.kind], ARRAY[v_job.priority], ARRAY[v_job.rank]);
    PERFORM job_announce(v_now);
    RETURN;
  END IF;
  PERFORM FROM job_tenants t WHERE t.tenant = v_job.tenant FOR UPDATE;
  SELECT t.entered - coalesce((SELECT sum(l.count::double precision) FROM job_leavers l WHERE l.tenant = t.tenant), 0),
    t.cost + greatest(0, c.virtual_time, CASE v_job.priority WHEN 0 THEN t.last_rank ELSE (
      SELECT r.last_rank FROM job_ranks r WHERE r.tenant = t.tenant AND r.priority = v_job.priority) END)
  INTO taken, v_rank FROM job_tenants t LEFT JOIN job_clock c ON c.priority = v_job.priority
  WHERE t.tenant = v_job.tenant;
  IF p_is_bounded AND taken >= p_per_tenant THEN
    refusal := 'tenant';
    RETURN;
  END IF;
  IF p_is_bounded THEN
    v_total := job_take_room(1, p_total);
    IF v_total IS NOT NULL THEN
      refusal := 'total'; taken := v_total;
      RETURN;
    END IF;
  ELSE
    PERFORM job_change_room(1);
  END IF;
  IF v_job.worker IS NOT NULL THEN
    INSERT INTO job_attempts VALUES (v_job.id, v_job.epoch, v_job.generation, v_job.attempt, v_job.worker,
      v_job.started_at_ms, v_job.finished_at_ms, v_job.state, v_job.last_error);
  END IF;
  UPDATE jobs j SET state = 'ready', hold = 0, generation = j.generation + 1, attempt = 0, rank = v_rank,
    run_at_ms = v_now, deadline_at_ms = v_now + j.deadline_ms, finished_at_ms = NULL, worker = NULL, started_at_ms = NULL
  WHERE j.id = v_job.id;
  UPDATE job_tenants t SET entered = t.entered + 1,
    last_rank = CASE v_job.priority WHEN 0 THEN v_rank ELSE t.last_rank END WHERE t.tenant = v_job.tenant;
  IF v_job.priority <> 0 THEN
    INSERT INTO job_ranks VALUES (v_job.tenant, v_job.priority, v_rank)
    ON CONFLICT (tenant, priority) DO UPDATE SET last_rank = excluded.last_rank;
  END IF;
  PERFORM job_announce(v_now);
END $$;

-- Removes what is older than its retention (ages in ms), the oldest first, at most p_limit of each; what somebody holds
-- at this moment stays until the next time. Dead jobs wait for a person.
CREATE FUNCTION job_prune(
  p_finished_ms bigint, p_operations_ms bigint, p_steps_ms bigint, p_limit integer, p_now bigint,
  OUT jobs bigint, OUT operations bigint, OUT steps bigint
) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_now bigint := job_now(p_now);
BEGIN
  WITH old AS MATERIALIZED (
    SELECT j.id FROM jobs j WHERE j.finished_at_ms IS NOT NULL AND j.state <> 'dead'
      AND j.finished_at_ms < v_now - p_finished_ms
    ORDER BY j.finished_at_ms, j.id LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), gone AS (
    DELETE FROM jobs j USING old o WHERE j.id = o.id RETURNING j.id, j.tenant, j.operation_id, j.state
  ), attempts AS (
    DELETE FROM job_attempts a USING gone g WHERE a.job_id = g.id
  ), kept AS (
    -- A repeat is told how it ended.
    UPDATE job_operations o SET state = g.state FROM gone g
    WHERE o.tenant = g.tenant AND o.operation_id = g.operation_id AND o.job_id = g.id
  )
  SELECT count(*) INTO jobs FROM gone;
  WITH old AS MATERIALIZED (
    SELECT o.tenant, o.operation_id FROM job_operations o WHERE o.created_at_ms < v_now - p_operations_ms
    ORDER BY o.created_at_ms, o.tenant, o.operation_id LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), gone AS (
    DELETE FROM job_operations o USING old d WHERE o.tenant = d.tenant AND o.operation_id = d.operation_id RETURNING 1
  )
  SELECT count(*) INTO operations FROM gone;
  WITH old AS MATERIALIZED (
    SELECT s.job_id, s.name FROM job_steps s WHERE s.changed_at_ms < v_now - p_steps_ms
      AND NOT EXISTS (SELECT FROM jobs j WHERE j.id = s.job_id)
    ORDER BY s.changed_at_ms, s.job_id, s.name LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), gone AS (
    DELETE FROM job_steps s USING old o WHERE s.job_id = o.job_id AND s.name = o.name RETURNING 1
  )
  SELECT count(*) INTO steps FROM gone;
  -- What nobody asks for any more: workers that are gone, and keys that nothing waits for.
  DELETE FROM job_resting r WHERE r.until_ms < v_now;
  DELETE FROM job_keys k WHERE NOT k.is_held AND k.due_at_ms IS NULL AND k.next_at_ms < v_now;
END $$;
