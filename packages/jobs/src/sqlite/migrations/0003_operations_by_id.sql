-- The operation id first: ids that grow with time then touch a page or two for a whole batch, whoever they are of, where
-- each tenant's end of the index was a page of its own before. Random ids cost what they did.
CREATE TABLE job_operations_next (
  seq INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  operation_id TEXT NOT NULL,
  payload_hash TEXT NOT NULL,
  job_id TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  state TEXT,
  UNIQUE (operation_id, tenant)
) STRICT;
INSERT INTO job_operations_next SELECT seq, tenant, operation_id, payload_hash, job_id, created_at_ms, state
  FROM job_operations ORDER BY seq;
DROP TABLE job_operations;
ALTER TABLE job_operations_next RENAME TO job_operations;
CREATE INDEX job_operations_by_age ON job_operations (created_at_ms);
