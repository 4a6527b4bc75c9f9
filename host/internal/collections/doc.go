// Package collections has what a turn's collections of records are made of on the host's side: the numbers that records
// have towards the core, their order, and histories, whose records many turns share.
package collections
