-- Many new jobs in one call, for less: room is looked at by tenant instead of by job, and nobody looks whether an operation
-- is known. The primary key of job_operations tells it anyway, while a look beforehand costs an eighth of the whole call.

-- As job_submit, with the same arguments and answers. In the usual case all is new and has room. In any other what was
-- written until then is undone, and job_submit decides: one by one, with the tenants' rows locked already.
CREATE FUNCTION job_submit_all(
  p_ids text[], p_kinds text[], p_tenants text[], p_payloads text, p_priorities integer[], p_run_at_ms bigint[],
  p_deadlines_ms bigint[], p_subjects text[], p_versions bigint[], p_keys text[], p_operations text[], p_hashes text[],
  p_lines integer[], p_places integer[], p_line_tenants text[], p_line_priorities integer[],
  p_per_tenant bigint, p_total bigint, p_is_cut boolean, p_now bigint,
  OUT now_ms bigint, OUT refusal text, OUT refused_at bigint, OUT taken bigint, OUT bases bigint[], OUT costs bigint[],
  OUT repeats text
) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_tenants text[] := ARRAY(SELECT DISTINCT u.tenant COLLATE "C" FROM unnest(p_line_tenants) AS u(tenant) ORDER BY 1);
  v_count bigint := cardinality(p_ids);
  v_gains bigint[];
  v_is_stored boolean := false;
BEGIN
  INSERT INTO job_tenants (tenant) SELECT u.tenant FROM unnest(v_tenants) AS u(tenant)
    WHERE NOT EXISTS (SELECT FROM job_tenants t WHERE t.tenant = u.tenant COLLATE "C") ON CONFLICT DO NOTHING;
  PERFORM FROM job_tenants t WHERE t.tenant = ANY (v_tenants) ORDER BY t.tenant FOR UPDATE;
  SELECT array_agg(t.cost ORDER BY l.line), array_agg(greatest(0, c.virtual_time,
    CASE l.priority WHEN 0 THEN t.last_rank ELSE r.last_rank END) ORDER BY l.line)
  INTO costs, bases FROM unnest(p_line_tenants, p_line_priorities) WITH ORDINALITY AS l(tenant, priority, line)
  JOIN job_tenants t ON t.tenant = l.tenant COLLATE "C" LEFT JOIN job_clock c ON c.priority = l.priority
  LEFT JOIN job_ranks r ON r.tenant = t.tenant AND r.priority = l.priority;
  -- How many each line gains. A line may gain none: its tenant is only to be locked, for what comes behind this call.
  v_gains := ARRAY(SELECT count(s.line) FROM generate_series(1, cardinality(p_line_tenants)) AS l(line)
    LEFT JOIN unnest(CASE WHEN cardinality(p_lines) < v_count THEN array_fill(p_lines[1], ARRAY[v_count::integer])
      ELSE p_lines END) AS s(line) ON s.line = l.line GROUP BY l.line ORDER BY l.line);
  now_ms := job_now(p_now);

  IF NOT p_is_cut AND NOT EXISTS (
    SELECT FROM (SELECT l.tenant, sum(l.gain) AS gain FROM unnest(p_line_tenants, v_gains) AS l(tenant, gain) GROUP BY 1) AS g
    JOIN job_tenants t ON t.tenant = g.tenant COLLATE "C" WHERE g.gain > 0 AND p_per_tenant < g.gain + t.entered
      - coalesce((SELECT sum(l.count::double precision) FROM job_leavers l WHERE l.tenant = t.tenant), 0)
  ) THEN
    BEGIN
      IF job_take_room(v_count, p_total) IS NULL THEN
        INSERT INTO job_operations (created_at_ms, tenant, operation_id, payload_hash, job_id)
        SELECT now_ms, coalesce(s.tenant, p_tenants[1]), s.operation, s.hash, s.id
        FROM unnest(p_ids, p_operations, p_hashes, p_tenants) AS s(id, operation, hash, tenant)
        WHERE s.operation IS NOT NULL;
        INSERT INTO jobs (id, kind, tenant, payload, priority, run_at_ms, hold, submitted_at_ms, deadline_ms,
          deadline_at_ms, subject, subject_version, key, operation_id, rank)
        SELECT s.id, coalesce(s.kind, p_kinds[1]), coalesce(s.tenant, p_tenants[1]), s.payload,
          coalesce(s.priority, p_priorities[1]), coalesce(s.run_at_ms, now_ms), (coalesce(s.run_at_ms, 0) > now_ms)::integer,
          now_ms, coalesce(s.deadline_ms, p_deadlines_ms[1]), now_ms + coalesce(s.deadline_ms, p_deadlines_ms[1]),
          s.subject, s.version, s.key, s.operation,
          bases[coalesce(s.line, p_lines[1])] + costs[coalesce(s.line, p_lines[1])] * coalesce(s.place, s.at)
        FROM unnest(p_ids, p_kinds, p_tenants, string_to_array(p_payloads, E'\n'), p_priorities, p_run_at_ms,
          p_deadlines_ms, p_subjects, p_versions, p_keys, p_operations, p_lines, p_places) WITH ORDINALITY
          AS s(id, kind, tenant, payload, priority, run_at_ms, deadline_ms, subject, version, key, operation, line, place, at);
        v_is_stored := true;
      END IF;
    EXCEPTION WHEN unique_violation THEN NULL;
    END;
  END IF;
  IF NOT v_is_stored THEN
    SELECT s.* INTO now_ms, refusal, refused_at, taken, bases, costs, repeats FROM job_submit(p_ids, p_kinds, p_tenants,
      p_payloads, p_priorities, p_run_at_ms, p_deadlines_ms, p_subjects, p_versions, p_keys, p_operations, p_hashes, p_lines,
      p_places, p_line_tenants, p_line_priorities, p_per_tenant, p_total, p_is_cut, p_now) s;
    RETURN;
  END IF;

  WITH gains AS MATERIALIZED (
    SELECT l.tenant, l.priority, l.gain, l.base + l.cost * l.gain AS last_rank
    FROM unnest(p_line_tenants, p_line_priorities, v_gains, bases, costs) AS l(tenant, priority, gain, base, cost)
    WHERE l.gain > 0
  ), ranked AS (
    INSERT INTO job_ranks SELECT g.tenant, g.priority, g.last_rank FROM gains g WHERE g.priority <> 0
    ON CONFLICT (tenant, priority) DO UPDATE SET last_rank = excluded.last_rank
  )
  UPDATE job_tenants t SET entered = t.entered + g.gain, last_rank = greatest(t.last_rank, g.last_rank)
  FROM (SELECT g.tenant, sum(g.gain) AS gain, max(g.last_rank) FILTER (WHERE g.priority = 0) AS last_rank
    FROM gains g GROUP BY g.tenant) AS g WHERE t.tenant = g.tenant COLLATE "C";
  PERFORM job_announce(now_ms);
END $$;
