package turns

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
)

type ruleVector struct {
	Type, Name string
	Input      json.RawMessage
	Violations []string
	Skip       map[string]string
}

// rulePart is a value that vectors describe, as Go's types hold it.
type rulePart struct{ value any }

func (p *rulePart) UnmarshalJSON(text []byte) error {
	var special struct {
		Is string `json:"$"`
	}
	_ = json.Unmarshal(text, &special)
	switch special.Is {
	case "media":
		p.value = record.ToolGenerated(record.Image, "image/png", "a.png", record.NewBlob([]byte("x")))
	case "artifact":
		p.value = record.NewSpooledArtifact(record.NewBlob([]byte("x")))
	case "reader":
		p.value = record.NewBlob([]byte("x"))
	case "text":
		p.value = special.Is
	default:
		var list []rulePart
		if json.Unmarshal(text, &list) == nil && list != nil {
			p.value = partsOf(list)
			return nil
		}
		return json.Unmarshal(text, &p.value)
	}
	return nil
}

// partsOf is a list of parts of one kind.
func partsOf(list []rulePart) any {
	artifacts, media := []*record.SpooledArtifact{}, []*record.Media{}
	for _, part := range list {
		switch part := part.value.(type) {
		case *record.SpooledArtifact:
			artifacts = append(artifacts, part)
		case *record.Media:
			media = append(media, part)
		}
	}
	if len(media) > 0 {
		return media
	}
	return artifacts
}

type ruleTime struct{ time.Time }

func (t *ruleTime) UnmarshalJSON(text []byte) error {
	var ms *int64
	if err := json.Unmarshal(text, &ms); err != nil {
		return json.Unmarshal(text, &t.Time)
	}
	if ms != nil {
		t.Time = time.UnixMilli(*ms)
	}
	return nil
}

// ruleInput has the fields of all inputs.
type ruleInput struct {
	ID, Role, Content, Source, Kind, Tool, Checksum string
	Identity                                        *record.Identity
	CreatedAt, UpdatedAt, CompletedAt               ruleTime
	Confidence, Importance                          float64
	Score                                           *float64
	Payload                                         any
	Args                                            json.RawMessage
	IsComplete, IsError, Inline                     bool
	ReplayCompatibility, TrustTier                  string
	Identifier, Representation                      string
	MimeType, Filename, ModalityHazard              string
	Stash                                           map[string]record.MediaNote
	SystemPrompt                                    string
	StandingInstructions                            []string
}

// ruleParts has the fields whose values Go holds as any.
type ruleParts struct {
	Content, Results, Reader rulePart
	Attachments              []rulePart
}

// validateInput makes the value that a vector describes and validates it.
func validateInput(t *testing.T, v ruleVector) error {
	t.Helper()
	var in ruleInput
	var parts ruleParts
	if err := json.Unmarshal(v.Input, &parts); err != nil {
		t.Fatal(err)
	}
	// Content that is not text is among the parts.
	if err := json.Unmarshal(v.Input, &in); err != nil && !strings.Contains(err.Error(), "Content") && !strings.Contains(err.Error(), "content") {
		t.Fatal(err)
	}
	if string(v.Input) == "null" {
		return (*record.Message)(nil).Validate()
	}
	switch v.Type {
	case "Message":
		m := &record.Message{ID: in.ID, Role: record.Role(in.Role), Content: in.Content, Identity: in.Identity, CreatedAt: in.CreatedAt.Time, UpdatedAt: in.UpdatedAt.Time}
		if parts.Attachments != nil {
			m.Attachments = partsOf(parts.Attachments).([]*record.Media)
		}
		return m.Validate()
	case "Memory":
		return (&record.Memory{ID: in.ID, Content: in.Content, Confidence: in.Confidence, Importance: in.Importance, CreatedAt: in.CreatedAt.Time, UpdatedAt: in.UpdatedAt.Time}).Validate()
	case "Thought":
		return (&record.Thought{ID: in.ID, Content: in.Content, Payload: in.Payload, ReplayCompatibility: in.ReplayCompatibility, CreatedAt: in.CreatedAt.Time, UpdatedAt: in.UpdatedAt.Time}).Validate()
	case "ToolCall":
		args := in.Args
		var text string
		if json.Unmarshal(args, &text) == nil {
			args = json.RawMessage(text)
		}
		return (&record.ToolCall{
			ID: in.ID, Tool: in.Tool, Args: args, Checksum: in.Checksum, IsComplete: in.IsComplete, IsError: in.IsError, Results: parts.Results.value,
			Payload: in.Payload, ReplayCompatibility: in.ReplayCompatibility, Inline: in.Inline,
			CreatedAt: in.CreatedAt.Time, UpdatedAt: in.UpdatedAt.Time, CompletedAt: in.CompletedAt.Time,
		}).Validate()
	case "Retrievable":
		return (&record.Retrievable{
			ID: in.ID, Content: parts.Content.value, TrustTier: record.TrustTier(in.TrustTier), Source: in.Source, Kind: in.Kind, Score: in.Score, Inline: in.Inline,
			CreatedAt: in.CreatedAt.Time, UpdatedAt: in.UpdatedAt.Time,
		}).Validate()
	case "Identity":
		return (&record.Identity{Identifier: in.Identifier, Representation: in.Representation}).Validate()
	case "Media":
		reader, _ := parts.Reader.value.(record.MediaReader)
		id := in.ID
		if id == "" {
			id = "made"
		}
		return (&record.Media{
			ID: id, Kind: record.MediaKind(in.Kind), MimeType: in.MimeType, Filename: in.Filename, Reader: reader, TrustTier: record.TrustTier(in.TrustTier),
			ModalityHazard: record.ModalityHazard(in.ModalityHazard), Source: in.Source, Stash: in.Stash,
		}).Validate()
	case "ModelPart":
		var part model.Part
		if err := json.Unmarshal(v.Input, &part); err != nil {
			t.Fatal(err)
		}
		return validatePart(&part)
	case "TurnInput":
		return (&TurnInput{SystemPrompt: in.SystemPrompt, StandingInstructions: in.StandingInstructions}).validate()
	}
	t.Fatalf("no type %s", v.Type)
	return nil
}

func TestValidateSaysWhatTheRulesSay(t *testing.T) {
	text, err := os.ReadFile("../../abi/testdata/rules.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Skipped map[string]int
		Vectors []ruleVector
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	codes := map[string]string{
		"Message": abi.MessageRules.Code, "Memory": abi.MemoryRules.Code, "Thought": abi.ThoughtRules.Code, "ToolCall": abi.ToolCallRules.Code,
		"Retrievable": abi.RetrievableRules.Code, "Identity": abi.IdentityRules.Code, "Media": abi.MediaRules.Code, "TurnInput": abi.TurnInputRules.Code,
		"ModelPart": abi.ModelPartRules.Code,
	}
	ran, skipped := 0, 0
	for _, v := range file.Vectors {
		if v.Skip["go"] != "" {
			skipped++
			continue
		}
		ran++
		t.Run(v.Type+"/"+v.Name, func(t *testing.T) {
			err := validateInput(t, v)
			if len(v.Violations) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var coded *host.Error
			if !errors.As(err, &coded) || string(coded.Code) != codes[v.Type] {
				t.Fatalf("%v, want %s", err, codes[v.Type])
			}
			want := strings.Join(v.Violations, "; ")
			if !strings.HasSuffix(coded.Message, want) {
				t.Errorf("got %q\nwant %q", coded.Message, want)
			}
			if cause := errors.Unwrap(err); cause == nil || !strings.HasSuffix(cause.Error(), strings.Join(v.Violations, " and ")) {
				t.Errorf("cause %v", cause)
			}
		})
	}
	if skipped != file.Skipped["go"] || ran != len(file.Vectors)-skipped || ran < 60 {
		t.Errorf("%d ran and %d were skipped, of which the file names %d", ran, skipped, file.Skipped["go"])
	}
	if !slices.ContainsFunc(file.Vectors, func(v ruleVector) bool { return v.Type == "Media" && v.Skip["go"] == "" }) {
		t.Error("no vector of a media ran")
	}
}
