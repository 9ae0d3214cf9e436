package conformtest

// hostClauses are the clauses that need a host, in the order in which they run.
var hostClauses []hostClause
