-- Each job is written three times: submitted, claimed, ended. With room in its page the later two go where the first one
-- is and take the place of what is dead by then; without, each goes to the end of the table, and so do the pages to be
-- written. The same for its id, whose entries otherwise split their pages, or are looked through to see which are dead.
-- A claim and an end take 8 % less time and 1.1 KB of WAL instead of 1.7, and the table of jobs that have ended is smaller
-- by a quarter. Jobs that wait take twice their room. 40 and 65 for the table are no faster; 45 for the index gains half.
-- For pages to come: what is there is not written anew.
ALTER TABLE jobs SET (fillfactor = 50);
ALTER INDEX jobs_pkey SET (fillfactor = 30);
