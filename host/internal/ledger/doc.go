// Package ledger has what stores that keep a session in memory do with its records: their order, the revisions that
// wrote them, keys of commits, and conflicts, as package store describes them. What a record is, is the store's own affair.
package ledger
