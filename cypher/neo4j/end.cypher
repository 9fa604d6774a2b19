// End the transactions whose metadata have a mark.
// mode: read
// param $mark: string: what they have as kgplatform
// returns: transactionId, message
SHOW TRANSACTIONS YIELD transactionId AS id, metaData
WHERE metaData.kgplatform = $mark
TERMINATE TRANSACTIONS id YIELD transactionId, message
RETURN transactionId, message
