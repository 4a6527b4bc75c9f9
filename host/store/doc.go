// Package store keeps conversations, by session.
//
// A [Store] loads what a session holds and commits what a turn has written; turns.Config takes one. [InMemory] is a store
// in memory. One that tells how far the times of its sessions have come is a [Newest].
package store
