// Entities, and relationships between two of them.
MATCH (entity:__Entity__)
WITH count(entity) AS entities
OPTIONAL MATCH (:__Entity__)-[made]->(:__Entity__)
RETURN entities, count(made) AS relations
