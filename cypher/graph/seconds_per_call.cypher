// How long a call of a model took in the saved runs that it answered: the median of seconds for each call.
// mode: read
// param $model: string: the model's name
// returns: seconds
MATCH (r:Run)
WHERE r.model = $model AND r.calls > 0 AND NOT coalesce(r.failed, false)
RETURN percentileCont(r.seconds / r.calls, 0.5) AS seconds
