// How long a call of a model took in the saved runs: the median of the steps that made one call of it.
// mode: read
// param $model: string: the model's name
// returns: seconds
MATCH (r:Run)-[:HAS_STEP]->(s:Step)
WHERE r.model = $model AND s.calls = 1
RETURN percentileCont(s.seconds, 0.5) AS seconds
