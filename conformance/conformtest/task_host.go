package conformtest

// taskHostClauses are the clauses of package task that need a host, in the order
// in which they run.
var taskHostClauses = []hostClause{}
