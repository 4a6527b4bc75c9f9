package hosttest

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// Conversation returns inbound frames, one step each, that take a greeted core through a whole turn with most kinds
// of frame: a runner with a tool and a host middleware, a message from a shared history, a streamed answer, a tool
// call, and the end. It does not depend on the answers, because all its numbers are known in advance. It is for tests
// of engines and for fuzzing.
func Conversation() [][]byte {
	frames := []abi.Frame{
		&abi.OpenRunner{
			Runner: 1, Call: 1, Executor: abi.ExecutorHost,
			Tools: []abi.ToolDef{{
				Number: 1, Name: "add", Description: "adds",
				InputSchema: abi.Raw("\x82\xa4type\xa6object\xaaproperties\x81\xa1a\x81\xa4type\xa7integer"),
			}},
			DispatchInput: []abi.Middleware{{Kind: abi.MiddlewareHost}},
			Callbacks:     abi.CallbackCommit | abi.CallbackDiscard,
		},
		&abi.History{History: 1, Collection: abi.CollectionMessages, Count: 1, Block: abi.Bytes((&abi.Message{ID: "m", Role: "user"}).Append(nil))},
		&abi.StartTurn{Turn: 1, Runner: 1, Now: host.FixedTime, Seed: make([]byte, 16), ID: "t", SystemPrompt: "be brief"},
		&abi.Edit{Turn: 1, Collection: abi.CollectionMessages, Edit: abi.EditAddHistory, Handle: 1, Count: 1, History: 1},
		&abi.Call{Turn: 1, Call: 1, Context: 1, Method: abi.MethodNext, Args: (&abi.NextArgs{Effect: 1}).Append(nil)},
		&abi.Result{Turn: 1, Effect: 1},
		&abi.Call{Turn: 1, Call: 2, Context: 1, Method: abi.MethodReport, Args: (&abi.ReportArgs{ID: "m1", Delta: "hello", Complete: true}).Append(nil)},
		&abi.Call{Turn: 1, Call: 3, Context: 1, Method: abi.MethodExecuteTool, Args: (&abi.ExecuteToolArgs{Tool: 1, Args: abi.Raw("\x81\xa1a\x01")}).Append(nil)},
		&abi.Result{Turn: 1, Effect: 3, Elapsed: 3},
		&abi.Call{Turn: 1, Call: 4, Context: 1, Method: abi.MethodLog, Args: (&abi.LogArgs{Kind: "k", Message: "m"}).Append(nil)},
		&abi.Call{Turn: 1, Call: 5, Context: 1, Method: abi.MethodDigest},
		&abi.Call{Turn: 1, Call: 6, Context: 1, Method: abi.MethodAck},
		&abi.Result{Turn: 1, Effect: 2, Elapsed: 5},
		&abi.Abort{Turn: 1},
		&abi.Tick{Turn: 1, Elapsed: 9},
		&abi.CloseRunner{Runner: 1},
		&abi.DropHistory{History: 1},
	}
	var list [][]byte
	for _, f := range frames {
		list = append(list, abi.Append(nil, f))
	}
	return list
}
