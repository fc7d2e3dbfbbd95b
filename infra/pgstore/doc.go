// Package pgstore is a store in a PostgreSQL database, which many machines share (docs/design.md#many-machines). It implements
// the ports of a store with the bytes and the verdicts of package manifest, and adds no rule to them.
//
// One transaction commits a group with its objects, its brief and the comparison of the lease. The lock of a log belongs to
// that transaction, so a lock that was lost with its connection cannot commit. A commit counts as recorded when the server
// answered it without a warning; an answer that is missing or a warning is resolved behind the lock, or reported as
// STORE_OUTCOME_UNKNOWN. Rows are whole: there is no torn tail and nothing is left over.
//
// Start with Store and Open in store.go. Each part below is a package of its own, and imports only those before it: db has connections,
// transactions and tables, rows what the rows have, logs reads and locks logs, and repair inspects and moves damage to the
// quarantine. Here are appends (commit.go), briefs, imports (arrival.go, extension.go), leases, the trash and cleanups
// (retention.go, trash.go, sweeper.go), control files, and changes.
package pgstore
