// Keep what a reader was asked, what it answered, and what it counted.
// mode: write
// param $rows: list<map>: id, name, question, reader, answer, note, statements, sufficient, model, seconds, calls, inputTokens, outputTokens, countNames, counts, restsOn, foundThen, askedWith
UNWIND $rows AS row
CREATE (r:Run {id: row.id})
SET r.name = row.name, r.question = row.question, r.reader = row.reader, r.answer = row.answer, r.note = row.note,
    r.statements = row.statements, r.sufficient = row.sufficient, r.model = row.model, r.at = datetime(),
    r.seconds = row.seconds, r.calls = row.calls, r.inputTokens = row.inputTokens, r.outputTokens = row.outputTokens,
    r.countNames = row.countNames, r.counts = row.counts, r.restsOn = row.restsOn, r.foundThen = row.foundThen,
    r.askedWith = row.askedWith
