// Temporal values and points from their texts, in the order given.
// mode: read
// param $rows: list<map>: type, value
// returns: made
UNWIND range(0, size($rows) - 1) AS place
WITH place, $rows[place] AS row
RETURN CASE row.type
         WHEN 'date' THEN date(row.value)
         WHEN 'time' THEN time(row.value)
         WHEN 'localtime' THEN localtime(row.value)
         WHEN 'datetime' THEN datetime(row.value)
         WHEN 'localdatetime' THEN localdatetime(row.value)
         WHEN 'duration' THEN duration(row.value)
         WHEN 'point' THEN point(row.value)
       END AS made
ORDER BY place
