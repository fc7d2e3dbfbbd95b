// Package db is the database of a store: its address, connections and what their errors mean, statements and rows, transactions that are
// durable when they say so, and the tables with their versions. It alone knows the client of PostgreSQL. It knows no logs: what
// the rows mean is up to the packages above it.
//
// Files: url.go (addresses), conn.go and pool.go (connections, statements, rows), fault.go (what an error of the server means),
// schema.go, init.go and describe.go (tables, and the facts of a server), db.go (handles), transaction.go and change.go
// (transactions and their commits), alone.go and kept.go (the lock that excludes commits, and transactions that wait for a caller).
// Start with Open.
package db
