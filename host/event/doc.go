// Package event has what happens in a turn, as listeners and streams are told it.
//
// An [Event] is a pointer to one of the structs of this package; a type switch tells them apart:
//
//	switch e := ev.(type) {
//	case *event.Message:
//		fmt.Print(e.Delta)
//	case *event.TurnEnd:
//		fmt.Println(e.Status)
//	}
//
// Message, Thought and ToolCall are what an application shows; the others tell how the turn goes. Each marshals to one
// line of the event log.
package event
