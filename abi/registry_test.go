package abi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// entry makes one of this package's types available to tests under its name.
type entry struct {
	name      string
	op        Op // of a frame, 0 of others
	typ       reflect.Type
	decode    func(b []byte)
	roundTrip func(b []byte) (any, error)
}

// registry holds every type that crosses the boundary.
var registry = []entry{
	of[Hello](OpHello), of[OpenRunner](OpOpenRunner), of[CloseRunner](OpCloseRunner), of[History](OpHistory),
	of[DropHistory](OpDropHistory), of[StartTurn](OpStartTurn), of[Call](OpCall), of[Edit](OpEdit), of[Result](OpResult),
	of[Chunk](OpChunk), of[Abort](OpAbort), of[Tick](OpTick), of[GCPercent](OpGCPercent),
	of[Welcome](OpWelcome), of[Reply](OpReply), of[Event](OpEvent), of[Effect](OpEffect), of[Cancel](OpCancel),
	of[Sync](OpSync), of[Timer](OpTimer), of[End](OpEnd), of[Fault](OpFault),
	of[Limits](0), of[Quota](0), of[ExecuteToolResult](0), of[Middleware](0), of[ToolDef](0), of[Instruction](0), of[Block](0), of[ErrorValue](0),
	of[NextArgs](0), of[StoreArgs](0), of[DeleteArgs](0), of[ReplaceGroupArgs](0), of[Item](0), of[NackArgs](0),
	of[ReportArgs](0), of[InterruptArgs](0), of[ReportToolCallArgs](0), of[LogArgs](0), of[StatsArgs](0), of[ExecuteToolArgs](0),
	of[CountArgs](0), of[DispatchArgs](0), of[DispatchResult](0), of[EmitArgs](0),
	of[OpenGateArgs](0), of[SettleGateArgs](0), of[WarnArgs](0), of[ValidateToolArgs](0), of[SpoolArgs](0), of[ReadArgs](0), of[ReadResult](0),
	of[EstimateArgs](0), of[ValidateArgs](0), of[ForgeArgs](0), of[GateOpenEvent](0), of[GateClosedEvent](0),
	of[ArtifactPart](0), of[MediaPart](0), of[TextPart](0),
	of[ExecutorArgs](0), of[MiddlewareArgs](0), of[ToolArgs](0), of[Delta](0), of[CommitArgs](0), of[CommitResult](0),
	of[DiscardArgs](0), of[HTTPArgs](0), of[Splice](0), of[ModelArgs](0),
	of[StreamEvent](0), of[ToolCallEvent](0), of[TurnEndEvent](0), of[DispatchEndEvent](0), of[IterationEndEvent](0),
	of[ToolStartEvent](0), of[ToolEndEvent](0), of[LogEvent](0), of[WarningEvent](0), of[ErrorEvent](0), of[StatsEvent](0),
	of[OpenAgents](OpOpenAgents), of[StartInvocation](OpStartInvocation), of[Shown](0), of[AgentDef](0), of[PluginDef](0),
	of[AppendArgs](0), of[StateDelta](0), of[ArtifactDelta](0), of[DeliverArgs](0), of[HookArgs](0), of[AgentArgs](0),
	of[StateKeyArgs](0), of[SetStateArgs](0), of[YieldArgs](0), of[RespondArgs](0), of[RequestArgs](0), of[ModelRequest](0), of[RunAgentArgs](0),
	of[ActionsArgs](0),
	of[NewSessionArgs](0), of[AppendEventArgs](0),
	of[Identity](0), of[Message](0), of[Memory](0), of[Thought](0), of[ToolCall](0), of[Retrievable](0),
}

func of[T any, P Tuple[T]](op Op) entry {
	typ := reflect.TypeFor[T]()
	return entry{typ.Name(), op, typ, func(b []byte) { _, _ = Decode[T, P](b) }, func(b []byte) (any, error) {
		v, err := Decode[T, P](b)
		if err != nil {
			return nil, err
		}
		once := P(&v).Append(nil)
		w, err := Decode[T, P](once)
		if err != nil {
			return nil, fmt.Errorf("%s: what was encoded is refused: %w", typ.Name(), err)
		}
		if twice := P(&w).Append(nil); !bytes.Equal(once, twice) {
			return nil, fmt.Errorf("%s: %x becomes %x", typ.Name(), once, twice)
		}
		return v, nil
	}}
}

// mustJSON formats values for messages of tests.
func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
