// What one transaction, and all together, may hold of the server's memory; who may not know is refused.
// mode: read
// returns: name, value
SHOW SETTINGS 'db.memory.transaction.max', 'dbms.memory.transaction.total.max' YIELD name, value
RETURN name, value
