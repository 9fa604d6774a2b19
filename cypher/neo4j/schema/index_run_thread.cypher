// Runs by the thread that they belong to.
// mode: schema
CREATE INDEX run_thread IF NOT EXISTS
FOR (n:Run) ON (n.thread)
