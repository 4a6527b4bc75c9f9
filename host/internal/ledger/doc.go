// Package ledger has what stores that keep a session in memory do with its records and events: their order, the
// revisions that wrote them, keys of commits, and conflicts, as package store describes them; and what they do with the
// journals of turns. What a record is, and where bytes are, is the store's own affair.
package ledger
