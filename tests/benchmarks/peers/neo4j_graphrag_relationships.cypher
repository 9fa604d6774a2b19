// In place of the writer's own statement, whose relationships are made by APOC.
UNWIND $rows AS row
MATCH (start:__KGBuilder__ {__tmp_internal_id: row.start_node_id})
MATCH (end:__KGBuilder__ {__tmp_internal_id: row.end_node_id})
MERGE (start)-[made:$(row.type)]->(end)
SET made += row.properties
