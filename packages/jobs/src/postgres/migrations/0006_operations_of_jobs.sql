-- An operation id is kept at least as long as its job, and only then by its own age: the index by age holds those of jobs
-- that are gone ("state" says how they had ended), so a submission writes one entry less. job_prune keeps its arguments
-- and its answer: processes of the version before may call it.
DROP INDEX job_operations_by_age;
CREATE INDEX job_operations_by_age ON job_operations (created_at_ms) WHERE state IS NOT NULL;

-- Removes what is older than its retention (ages in ms), the oldest first, at most p_limit of each; what somebody holds
-- at this moment stays until the next time. Dead jobs wait for a person; an operation id stays as long as its job.
CREATE OR REPLACE FUNCTION job_prune(
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
    SELECT o.tenant, o.operation_id FROM job_operations o
    WHERE o.state IS NOT NULL AND o.created_at_ms < v_now - p_operations_ms
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
