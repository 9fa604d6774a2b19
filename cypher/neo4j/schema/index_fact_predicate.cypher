// Facts by relation or attribute: those that contradict each other.
// mode: schema
CREATE INDEX fact_predicate IF NOT EXISTS
FOR (n:Fact) ON (n.predicate)
