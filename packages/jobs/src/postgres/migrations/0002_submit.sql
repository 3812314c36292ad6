-- Submitting, and what it shares with ending: room, counts and the announcement.
--
-- Why functions: each is one round trip, and its plans are kept by the server, so they cost the same through a
-- transaction-mode pooler, where a client cannot keep prepared statements. Never edited: a change is a new migration
-- with a new name, since processes of the version before may still be calling these.
--
-- enable_seqscan = off: plans are kept, and one that was made while a table was empty would scan it when it is not.

-- The instant that is given (tests, simulation), else the server's own, in Unix ms.
CREATE FUNCTION job_now(p_now bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;

-- Takes room for `p_more` jobs under the bound in total. Null when it has; else how many are pending.
CREATE FUNCTION job_take_room(p_more bigint, p_total bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_pending bigint;
  v_slots integer[];
BEGIN
  UPDATE job_slots SET pending = pending + p_more WHERE slot = (
    SELECT f.slot FROM job_slots f
    WHERE f.pending + p_more <= CASE WHEN f.slot < 16 THEN p_total / 16 + (f.slot < p_total % 16)::integer ELSE 0 END
    LIMIT 1 FOR UPDATE SKIP LOCKED
  ) AND (SELECT sum(s.pending) FROM job_slots s) + p_more <= p_total;
  IF FOUND THEN RETURN NULL; END IF;
  -- Nothing that is free has enough: only all slots together, and so only once those who hold one have ended, can say.
  SELECT sum(l.pending), array_agg(l.slot) INTO v_pending, v_slots
    FROM (SELECT s.pending, s.slot FROM job_slots s ORDER BY s.slot FOR UPDATE) l;
  IF v_pending + p_more > p_total THEN RETURN v_pending; END IF;
  v_pending := v_pending + p_more;
  DELETE FROM job_slots WHERE slot >= 16 AND slot = ANY (v_slots);
  UPDATE job_slots SET pending = v_pending / 16 + (slot < v_pending % 16)::integer WHERE slot < 16;
  RETURN NULL;
END $$;

-- Adds to the jobs pending in total (or takes off) whatever the bound says, and waits for nobody.
CREATE FUNCTION job_change_room(p_more bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE job_slots SET pending = pending + p_more WHERE slot = (
    SELECT f.slot FROM job_slots f ORDER BY sign(p_more) * f.pending LIMIT 1 FOR UPDATE SKIP LOCKED);
  IF NOT FOUND THEN
    INSERT INTO job_slots VALUES (16 + floor(random() * 2000000000)::integer, p_more);
  END IF;
END $$;

-- `p_counts` jobs of each tenant are not pending any more. Waits for nobody.
--
-- The row that was locked is written by its key. By its ctid it would be missed, and the count lost, when somebody else
-- had written it between the beginning of this statement and its lock.
CREATE FUNCTION job_leave(p_tenants text[], p_counts bigint[]) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off AS $$
BEGIN
  WITH leaving AS MATERIALIZED (
    SELECT u.tenant, u.count, free.row FROM unnest(p_tenants, p_counts) AS u(tenant, count)
    LEFT JOIN LATERAL (SELECT l.row FROM job_leavers l WHERE l.tenant = u.tenant COLLATE "C"
      LIMIT 1 FOR UPDATE SKIP LOCKED) AS free ON true
  ), counted AS (
    UPDATE job_leavers l SET count = l.count + g.count FROM leaving g
    WHERE l.tenant = g.tenant COLLATE "C" AND l.row = g.row
  )
  INSERT INTO job_leavers SELECT g.tenant, floor(random() * 2000000000)::integer, g.count
  FROM leaving g WHERE g.row IS NULL;
  PERFORM job_change_room(-(SELECT sum(u.n) FROM unnest(p_counts) AS u(n))::bigint);
END $$;

-- Adds to lifetime totals. Waits for nobody.
CREATE FUNCTION job_count(p_kinds text[], p_names text[], p_values bigint[]) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off AS $$
BEGIN
  WITH adding AS MATERIALIZED (
    SELECT u.kind, u.name, u.value, free.row FROM unnest(p_kinds, p_names, p_values) AS u(kind, name, value)
    LEFT JOIN LATERAL (SELECT t.row FROM job_totals t
      WHERE t.kind = u.kind COLLATE "C" AND t.name = u.name COLLATE "C" LIMIT 1 FOR UPDATE SKIP LOCKED) AS free ON true
  ), added AS (
    UPDATE job_totals t SET value = t.value + a.value FROM adding a
    WHERE t.kind = a.kind COLLATE "C" AND t.name = a.name COLLATE "C" AND t.row = a.row
  )
  INSERT INTO job_totals SELECT a.kind, a.name, floor(random() * 2000000000)::integer, a.value
  FROM adding a WHERE a.row IS NULL;
END $$;

-- Announces work, if anybody rests: a notification in every commit would make commits wait for each other.
CREATE FUNCTION job_announce(p_now bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM job_resting r WHERE r.until_ms > p_now) THEN PERFORM pg_notify('garner_jobs', ''); END IF;
END $$;

-- Accepts one job in the common case, and answers when and with which rank; null when it is not that (a new tenant, a
-- repeat, no room), and then nothing has changed and job_submit is to be asked.
CREATE FUNCTION job_submit_one(
  p_id text, p_kind text, p_tenant text, p_payload text, p_priority integer, p_run_at_ms bigint, p_deadline_ms bigint,
  p_subject text, p_version bigint, p_key text, p_operation text, p_hash text,
  p_per_tenant bigint, p_total bigint, p_now bigint
) RETURNS bigint[] LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_now bigint := job_now(p_now);
  v_rank bigint;
  v_cost bigint;
  v_is_repeat boolean := false;
BEGIN
  FOR v_look IN 1 .. 2 LOOP
    UPDATE job_tenants t SET entered = t.entered + 1, last_rank = t.cost + greatest(t.last_rank,
      (SELECT c.virtual_time FROM job_clock c WHERE c.priority = 0))
    WHERE t.tenant = p_tenant COLLATE "C" AND p_priority = 0 AND t.entered - t.left_seen < p_per_tenant
    RETURNING t.last_rank, t.cost INTO v_rank, v_cost;
    EXIT WHEN FOUND;
    IF v_look = 1 THEN
      UPDATE job_tenants t SET left_seen = s.count
      FROM (SELECT sum(l.count) AS count FROM job_leavers l WHERE l.tenant = p_tenant COLLATE "C") AS s
      WHERE t.tenant = p_tenant COLLATE "C" AND p_priority = 0 AND t.left_seen < s.count;
    END IF;
    IF NOT FOUND THEN RETURN NULL; END IF;
  END LOOP;
  IF p_operation IS NOT NULL THEN
    INSERT INTO job_operations (created_at_ms, tenant, operation_id, payload_hash, job_id)
      VALUES (v_now, p_tenant, p_operation, p_hash, p_id) ON CONFLICT DO NOTHING;
    v_is_repeat := NOT FOUND;
  END IF;
  IF NOT v_is_repeat THEN
    UPDATE job_slots SET pending = pending + 1 WHERE slot = (
      SELECT f.slot FROM job_slots f
      WHERE f.pending < CASE WHEN f.slot < 16 THEN p_total / 16 + (f.slot < p_total % 16)::integer ELSE 0 END
      LIMIT 1 FOR UPDATE SKIP LOCKED
    ) AND (SELECT sum(s.pending) FROM job_slots s) < p_total;
    IF FOUND THEN
      INSERT INTO jobs (id, kind, tenant, payload, priority, run_at_ms, hold, submitted_at_ms, deadline_ms,
        deadline_at_ms, subject, subject_version, key, operation_id, rank)
      VALUES (p_id, p_kind, p_tenant, p_payload, p_priority, coalesce(p_run_at_ms, v_now),
        (coalesce(p_run_at_ms, 0) > v_now)::integer, v_now, p_deadline_ms, v_now + p_deadline_ms, p_subject, p_version,
        p_key, p_operation, v_rank);
      IF EXISTS (SELECT FROM job_resting r WHERE r.until_ms > v_now) THEN PERFORM pg_notify('garner_jobs', ''); END IF;
      RETURN ARRAY[v_now, v_rank];
    END IF;
    DELETE FROM job_operations o WHERE o.tenant = p_tenant COLLATE "C" AND o.operation_id = p_operation COLLATE "C";
  END IF;
  UPDATE job_tenants t SET entered = t.entered - 1, last_rank = v_rank - v_cost WHERE t.tenant = p_tenant COLLATE "C";
  RETURN NULL;
END $$;

-- Accepts all of the given jobs or none.
--
-- Columns come as arrays; one that is shorter than p_ids says its first value (kind, tenant, priority, deadline, line)
-- or nothing (the others) for the rest. Payloads are JSON texts with a line feed between them, which JSON texts do not
-- contain. A line is one tenant's place in one priority; p_places counts the submissions of each line from 1, and is
-- empty when there is one line.
-- refusal: null, 'conflict', 'tenant' or 'total', and then refused_at says of which one (from 1) and taken how many were
-- pending by then, those before it included. bases, costs: of the lines; the n-th job that a line gained has rank
-- base + n * cost (nextRank of rank.ts). repeats: JSON, for each one that had been submitted before, its place, the first
-- job's id, that job if it is still there, else the state it ended in.
-- p_is_cut: the submission after the given ones is known to be in conflict, so nothing is accepted; which one is refused
-- first is all that is asked.
CREATE FUNCTION job_submit(
  p_ids text[], p_kinds text[], p_tenants text[], p_payloads text, p_priorities integer[], p_run_at_ms bigint[],
  p_deadlines_ms bigint[], p_subjects text[], p_versions bigint[], p_keys text[], p_operations text[], p_hashes text[],
  p_lines integer[], p_places integer[], p_line_tenants text[], p_line_priorities integer[],
  p_per_tenant bigint, p_total bigint, p_is_cut boolean, p_now bigint,
  OUT now_ms bigint, OUT refusal text, OUT refused_at bigint, OUT taken bigint, OUT bases bigint[], OUT costs bigint[],
  OUT repeats text
) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_is_one_line boolean := cardinality(p_line_tenants) = 1;
  v_tenants text[];
  v_known bigint[] := '{}';
  v_conflict bigint;
  v_count bigint := cardinality(p_ids);
  v_more bigint := v_count;
  v_total bigint;
BEGIN
  -- The tenants' rows are the locks: of their bounds, their ranks and their operation ids.
  IF v_is_one_line THEN
    LOOP
      PERFORM FROM job_tenants t WHERE t.tenant = p_line_tenants[1] COLLATE "C" FOR UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO job_tenants (tenant) VALUES (p_line_tenants[1]) ON CONFLICT DO NOTHING;
    END LOOP;
    -- Not in one with the lock: a statement that has waited for a row sees the others as they were before.
    SELECT t.entered - coalesce((SELECT sum(l.count::double precision) FROM job_leavers l WHERE l.tenant = t.tenant), 0),
      ARRAY[t.cost], ARRAY[greatest(0, c.virtual_time, CASE p_line_priorities[1] WHEN 0 THEN t.last_rank ELSE (
        SELECT r.last_rank FROM job_ranks r WHERE r.tenant = t.tenant AND r.priority = p_line_priorities[1]) END)]
    INTO taken, costs, bases FROM job_tenants t LEFT JOIN job_clock c ON c.priority = p_line_priorities[1]
    WHERE t.tenant = p_line_tenants[1] COLLATE "C";
  ELSE
    v_tenants := ARRAY(SELECT DISTINCT u.tenant COLLATE "C" FROM unnest(p_line_tenants) AS u(tenant) ORDER BY 1);
    INSERT INTO job_tenants (tenant) SELECT u.tenant FROM unnest(v_tenants) AS u(tenant)
      WHERE NOT EXISTS (SELECT FROM job_tenants t WHERE t.tenant = u.tenant COLLATE "C") ON CONFLICT DO NOTHING;
    PERFORM FROM job_tenants t WHERE t.tenant = ANY (v_tenants) ORDER BY t.tenant FOR UPDATE;
    SELECT array_agg(t.cost ORDER BY l.line), array_agg(greatest(0, c.virtual_time,
      CASE l.priority WHEN 0 THEN t.last_rank ELSE r.last_rank END) ORDER BY l.line)
    INTO costs, bases FROM unnest(p_line_tenants, p_line_priorities) WITH ORDINALITY AS l(tenant, priority, line)
    JOIN job_tenants t ON t.tenant = l.tenant COLLATE "C" LEFT JOIN job_clock c ON c.priority = l.priority
    LEFT JOIN job_ranks r ON r.tenant = t.tenant AND r.priority = l.priority;
  END IF;
  now_ms := job_now(p_now);

  IF cardinality(p_operations) > 0 THEN
    SELECT coalesce(array_agg(s.at) FILTER (WHERE o.payload_hash = s.hash), '{}'),
      min(s.at) FILTER (WHERE o.payload_hash <> s.hash),
      json_agg(json_build_object('at', s.at, 'id', o.job_id, 'state', o.state, 'created_at_ms', o.created_at_ms,
        'job', to_json(j)))
        FILTER (WHERE o.payload_hash = s.hash)
    INTO v_known, v_conflict, repeats
    FROM unnest(p_operations, p_hashes, p_tenants) WITH ORDINALITY AS s(operation, hash, tenant, at)
    JOIN job_operations o ON o.tenant = coalesce(s.tenant, p_tenants[1]) COLLATE "C"
      AND o.operation_id = s.operation COLLATE "C"
    LEFT JOIN jobs j ON j.id = o.job_id;
    v_more := v_more - cardinality(v_known);
  END IF;
  IF p_is_cut THEN v_conflict := coalesce(v_conflict, v_count + 1); END IF;

  -- The first one that its tenant has no room for.
  IF v_is_one_line THEN
    IF taken + v_more > p_per_tenant THEN
      refusal := 'tenant'; refused_at := greatest(p_per_tenant - taken, 0); taken := greatest(p_per_tenant, taken);
      SELECT s.at INTO refused_at FROM generate_series(1, v_count) AS s(at)
        WHERE s.at <> ALL (v_known) ORDER BY s.at OFFSET refused_at LIMIT 1;
    END IF;
  ELSE
    WITH room AS MATERIALIZED (
      SELECT t.tenant, t.entered - coalesce((SELECT sum(l.count::double precision) FROM job_leavers l WHERE l.tenant = t.tenant), 0) AS taken
      FROM job_tenants t WHERE t.tenant = ANY (v_tenants)
    ), asked AS (
      SELECT coalesce(s.tenant, p_tenants[1]) COLLATE "C" AS tenant, s.at,
        row_number() OVER (PARTITION BY coalesce(s.tenant, p_tenants[1]) COLLATE "C" ORDER BY s.at) AS place
      FROM unnest(p_ids, p_tenants) WITH ORDINALITY AS s(id, tenant, at) WHERE s.at <> ALL (v_known)
    )
    SELECT 'tenant', a.at, r.taken + a.place - 1 INTO refusal, refused_at, taken
    FROM room r JOIN asked a ON a.tenant = r.tenant WHERE r.taken + a.place > p_per_tenant ORDER BY a.at LIMIT 1;
  END IF;
  IF v_conflict <= coalesce(refused_at, v_conflict) THEN
    refusal := 'conflict'; refused_at := v_conflict;
  END IF;
  IF refusal IS NULL AND v_more > 0 THEN
    v_total := job_take_room(v_more, p_total);
  ELSIF refusal IS NOT NULL THEN
    -- Those before the refused one may have been too many in total.
    v_total := (SELECT sum(s.pending) FROM job_slots s);
    v_more := refused_at - 1 - (SELECT count(*) FROM unnest(v_known) AS k(at) WHERE k.at < refused_at);
    IF v_total + v_more <= p_total THEN v_total := NULL; END IF;
  END IF;
  IF v_total IS NOT NULL THEN
    refusal := 'total'; taken := greatest(v_total, p_total);
    SELECT s.at INTO refused_at FROM generate_series(1, v_count) AS s(at)
      WHERE s.at <> ALL (v_known) ORDER BY s.at OFFSET taken - v_total LIMIT 1;
  END IF;
  IF refusal IS NOT NULL OR v_more = 0 THEN RETURN; END IF;

  IF v_known <> '{}' THEN
    p_places := ARRAY(SELECT CASE WHEN s.at <> ALL (v_known) THEN count(*) FILTER (WHERE s.at <> ALL (v_known))
      OVER (PARTITION BY coalesce(s.line, p_lines[1]) ORDER BY s.at) END
      FROM unnest(p_ids, p_lines) WITH ORDINALITY AS s(id, line, at) ORDER BY s.at);
  END IF;
  INSERT INTO jobs (id, kind, tenant, payload, priority, run_at_ms, hold, submitted_at_ms, deadline_ms, deadline_at_ms,
    subject, subject_version, key, operation_id, rank)
  SELECT s.id, coalesce(s.kind, p_kinds[1]), coalesce(s.tenant, p_tenants[1]), s.payload,
    coalesce(s.priority, p_priorities[1]), coalesce(s.run_at_ms, now_ms), (coalesce(s.run_at_ms, 0) > now_ms)::integer,
    now_ms, coalesce(s.deadline_ms, p_deadlines_ms[1]), now_ms + coalesce(s.deadline_ms, p_deadlines_ms[1]),
    s.subject, s.version, s.key, s.operation,
    bases[coalesce(s.line, p_lines[1])] + costs[coalesce(s.line, p_lines[1])] * coalesce(s.place, s.at)
  FROM unnest(p_ids, p_kinds, p_tenants, string_to_array(p_payloads, E'\n'), p_priorities, p_run_at_ms, p_deadlines_ms,
    p_subjects, p_versions, p_keys, p_operations, p_lines, p_places) WITH ORDINALITY
    AS s(id, kind, tenant, payload, priority, run_at_ms, deadline_ms, subject, version, key, operation, line, place, at)
  WHERE s.at <> ALL (v_known);
  IF v_is_one_line AND p_line_priorities[1] = 0 THEN
    UPDATE job_tenants t SET entered = t.entered + v_more, last_rank = bases[1] + costs[1] * v_more
      WHERE t.tenant = p_line_tenants[1] COLLATE "C";
  ELSE
    WITH gains AS MATERIALIZED (
      SELECT p_line_tenants[a.line] AS tenant, p_line_priorities[a.line] AS priority, a.more,
        bases[a.line] + costs[a.line] * a.more AS last_rank
      FROM (SELECT coalesce(s.line, p_lines[1]) AS line, count(*) AS more FROM unnest(p_ids, p_lines) WITH ORDINALITY
        AS s(id, line, at) WHERE s.at <> ALL (v_known) GROUP BY 1) AS a
    ), ranked AS (
      INSERT INTO job_ranks SELECT g.tenant, g.priority, g.last_rank FROM gains g WHERE g.priority <> 0
      ON CONFLICT (tenant, priority) DO UPDATE SET last_rank = excluded.last_rank
    )
    UPDATE job_tenants t SET entered = t.entered + g.more, last_rank = greatest(t.last_rank, g.last_rank)
    FROM (SELECT g.tenant, sum(g.more) AS more, max(g.last_rank) FILTER (WHERE g.priority = 0) AS last_rank
      FROM gains g GROUP BY g.tenant) AS g WHERE t.tenant = g.tenant COLLATE "C";
  END IF;
  IF cardinality(p_operations) > 0 THEN
    INSERT INTO job_operations (created_at_ms, tenant, operation_id, payload_hash, job_id)
    SELECT now_ms, coalesce(s.tenant, p_tenants[1]), s.operation, s.hash, s.id
    FROM unnest(p_ids, p_operations, p_hashes, p_tenants) WITH ORDINALITY AS s(id, operation, hash, tenant, at)
    WHERE s.operation IS NOT NULL AND s.at <> ALL (v_known);
  END IF;
  IF EXISTS (SELECT FROM job_resting r WHERE r.until_ms > now_ms) THEN PERFORM pg_notify('garner_jobs', ''); END IF;
END $$;
