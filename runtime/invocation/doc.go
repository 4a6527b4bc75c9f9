// Package invocation runs agents: what happens in response to one message. An agent gives events one after another, and
// each is stored, then delivered, and only then does its agent go on. Agents are models with tools, groups of agents,
// or generators of host code.
//
// An invocation is a [runtime.Turn], for its clock, its ids and its quota; each model call is a step of it. The package
// waits only through tasks and does no I/O.
//
// Source: contract page "Invocation Lifecycle".
package invocation
