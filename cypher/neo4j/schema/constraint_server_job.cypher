// One ServerJob node per id.
// mode: schema
CREATE CONSTRAINT server_job_id IF NOT EXISTS
FOR (j:ServerJob) REQUIRE j.id IS UNIQUE
