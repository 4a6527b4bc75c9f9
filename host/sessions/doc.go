// Package sessions runs agents that answer in events, which a session keeps. A [Runner] has a tree of agents and a
// store. Its Run yields the events of one invocation, what happens in response to one message:
//
//	agent := &sessions.LLMAgent{Name: "guide", Instruction: "Answer briefly.", Model: model}
//	runner, err := sessions.New(ctx, sessions.Config{App: "travel", Agent: agent, Store: store.NewInMemory()})
//	…
//	session, err := runner.Sessions().Create(ctx, "ada", "", nil)
//	for event, err := range runner.Run(ctx, sessions.Input{User: "ada", Session: session.ID, Message: sessions.Text("Hello")}) { … }
//
// # Events
//
// An event that is not partial is stored, then delivered, and only then does its agent go on. A partial event is a part
// of a stream: it is delivered at once and not stored. A caller that leaves the loop stops the invocation: the agents
// end, and so do the hooks after the run, before the loop is left. Events are plain data that nobody changes later.
//
// # State
//
// A session has state: values by name. A name's prefix is its scope: "app:" is shared by all sessions of the
// application, "user:" by those of a user, "temp:" lasts as long as the invocation and is never stored, and a name
// without a prefix belongs to the session. A write is seen by all code of the invocation at once, and is kept when an
// event stores it whose Actions.StateDelta has it. A nil value deletes.
//
// # Conflicts
//
// Every append names the revision of the session that its writer has seen. When another writer came between, it fails
// with E_SESSION_CONFLICT and stores nothing. [Service.Retry] loads the session anew and tries again.
//
// The loop itself runs in the module of a [turns.Host], the one of package wasm/full. LLM agents use the models of
// package host/model and the tools of package host/turns.
package sessions
