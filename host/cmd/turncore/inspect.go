package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/journal"
)

const inspectHelp = `turncore inspect FILE [flags]

Shows what happened in a turn, from the journal that "turncore run --log FILE" wrote:
iterations, requests and other effects with how long they took, tools with arguments and
results, gates, tokens, errors, and how it ended. Nothing runs.

Exit status: 0 if the journal is whole, 1 if not, 2 for a command line that is wrong.

Flags:
`

func (c *command) inspect(args []string) error {
	f := flag.NewFlagSet("inspect", flag.ContinueOnError)
	asJSON := f.Bool("json", false, "print the header and each entry with its decoded frames, as JSON lines")
	verbose := f.Bool("verbose", false, "print texts whole, bodies of requests and responses, and calls of the host")
	rest, helped, err := c.parse(f, inspectHelp, args)
	if helped || err != nil {
		return err
	}
	if len(rest) != 1 {
		return usagef("inspect", "give one journal, not %d", len(rest))
	}
	out := &output{w: bufio.NewWriter(c.stdout), screen: newScreen(c.stdout, c.stdout, c.getenv)}
	err = inspectFile(rest[0], out, *asJSON, *verbose)
	if flushed := out.w.Flush(); flushed != nil {
		return fmt.Errorf("standard output: %w", flushed)
	}
	return err
}

// inspectFile shows a journal as far as it goes.
func inspectFile(name string, out *output, asJSON, verbose bool) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	reader, err := journal.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	shown := &timeline{header: reader.Header, verbose: verbose}
	if asJSON {
		out.raw(headerJSON(&reader.Header))
	}
	var line []byte
	for entries := 0; ; entries++ {
		entry, err := reader.Next()
		if err != nil {
			if !asJSON {
				shown.print(out)
			}
			if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && entries > 0 {
				return nil
			}
			if errors.Is(err, io.EOF) && entries == 0 {
				err = errors.New("the journal has no entries")
			}
			return fmt.Errorf("%s: %w", name, err)
		}
		line = fmt.Appendf(line[:0], `{"entry":%d,"in":`, entries)
		line = append(journal.AppendJSON(line, entry.In), `,"out":`...)
		line = append(journal.AppendJSON(line, entry.Out), '}')
		if asJSON {
			out.raw(line)
			continue
		}
		var step struct{ In, Out []json.RawMessage }
		if err := json.Unmarshal(line, &step); err != nil {
			return err
		}
		for _, frame := range append(step.In, step.Out...) {
			shown.frame(frame)
		}
	}
}

func headerJSON(h *journal.Header) []byte {
	line := fmt.Appendf(nil, `{"turncore":"journal","version":%d,"abi":"%d.%d","features":%d,"module":`,
		journal.Version, h.ABI>>16, h.ABI&0xffff, h.Features)
	line = append(value.AppendJSONString(line, h.Module), `,"engine":`...)
	line = append(value.AppendJSONString(line, h.Engine), `,"turn":`...)
	return fmt.Appendf(line, "%d}", h.Turn)
}

// output is standard output, which may be a terminal.
type output struct {
	w      *bufio.Writer
	screen *screen
}

// raw writes a line as it is.
func (o *output) raw(line []byte) {
	_, _ = o.w.Write(append(line, '\n')) // Flush tells
}

// line writes a line in the colours of its parts.
func (o *output) line(parts ...styled) {
	for _, p := range parts {
		text := p.text
		if o.screen.outIsTTY {
			text = printable(text)
		}
		if p.style != plain && text != "" {
			text = o.screen.style(p.style).Sprint(text)
		}
		_, _ = o.w.WriteString(text)
	}
	_ = o.w.WriteByte('\n')
}
