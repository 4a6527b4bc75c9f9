package turns_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// What a turn of the front door begins with beside the user's words.
func TestInputOfTheFrontDoor(t *testing.T) {
	image := record.UserAttachment(record.Image, "image/png", "a.png", record.NewBlob([]byte{1, 2, 3}))
	for _, text := range []string{"What is this?", ""} {
		var message *record.Message
		var instructions []string
		r := newFront(t, turns.Config{Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			message = ctx.TurnMessages().Slice()[0]
			for i := range ctx.StandingInstructions().All() {
				instructions = append(instructions, i.Text)
			}
			return ctx.Ack()
		}})
		var kinds []event.Kind
		_, err := r.Run(t.Context(), turns.Input{
			Message: text, Attachments: []*record.Media{image}, StandingInstructions: []string{"Be brief.", "Be kind."},
			OnEvent: func(ev event.Event) { kinds = append(kinds, ev.Kind()) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if message.Content != text || !slices.Equal(message.Attachments, []*record.Media{image}) {
			t.Errorf("the message is %+v", message)
		}
		if !slices.Equal(instructions, []string{"Be brief.", "Be kind."}) {
			t.Errorf("the instructions are %q", instructions)
		}
		if len(kinds) == 0 || kinds[0] != event.KindTurnStart || kinds[len(kinds)-1] != event.KindTurnEnd {
			t.Errorf("OnEvent heard %v", kinds)
		}
		if records, err := r.Store().Load(t.Context(), turns.DefaultSession, ""); err != nil || len(records.Messages) != 1 {
			t.Errorf("%+v, %v", records, err)
		}
	}
}

func TestAttachmentsThatAreRefused(t *testing.T) {
	r := newRunner(t, turns.TurnRunnerConfig{Executor: say("Hi.")})
	good := record.UserAttachment(record.Image, "image/png", "a.png", record.NewBlob([]byte{1}))
	whole := record.NewMessage("m", record.User, "x", instant)
	for want, in := range map[string]turns.TurnInput{
		"attachments[0]": {Text: "x", Attachments: []*record.Media{{}}},
		"`attachments` cannot be given beside a Message, which has its own": {Message: whole, Attachments: []*record.Media{good}},
	} {
		in.SystemPrompt = "test"
		if result, err := r.Run(t.Context(), in); result != nil || !errors.Is(err, host.CodeInvalidTurnContext) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
