-- A job's operation id stands in its row alone. A table beside it cost a submission three entries (a row, its id, its
-- age), more than half of what one commit writes; an index of the jobs costs one. job_operations keeps those of jobs that
-- are gone, so an operation id is kept at least as long as its job.
--
-- An id that was let go while its job was still there, and may have made another job since, is that one's.
UPDATE jobs SET operation_id = NULL WHERE operation_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM job_operations o
  WHERE o.operation_id = jobs.operation_id AND o.tenant = jobs.tenant AND o.job_id = jobs.id);
DELETE FROM job_operations WHERE job_id IN (SELECT id FROM jobs WHERE operation_id IS NOT NULL);
-- The operation id first: ids that grow with time then touch a page or two for a whole batch, whoever they are of.
CREATE UNIQUE INDEX jobs_by_operation ON jobs (operation_id, tenant) WHERE operation_id IS NOT NULL;
