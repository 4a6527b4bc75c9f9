// Package store keeps conversations, by session.
//
// A [Store] loads what a session holds and commits what a turn has written; turns.Config takes one. [InMemory] is a
// store in memory. One that can list its sessions is a [Sessions], and one that tells how far their times have come a
// [Newest]. An [Appender] also keeps events, state and artifacts, and a [Journal] the journals of turns.
package store
