// Package model says which model answers, and how it is asked.
//
// A [Provider] is a protocol that APIs speak; its typed options, such as [OpenAIOptions], become the Options of a
// turns.Model or of [ChatOptions]. A [Credential] is a secret that requests carry on their way out of the host.
//
// An [Engine] is a model that the host runs itself: it is given a [Request] and sends an answer in [Part]s.
package model
