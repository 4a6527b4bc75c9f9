package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/journal"
)

const replayHelp = `turncore replay FILE [flags]

Plays the journal that "turncore run --log FILE" wrote into a fresh core, runs none of
its effects again, and compares every byte that comes out.

Exit status: 0 if all are equal, 1 if not, 2 for a command line that is wrong.

Flags:
`

func (c *command) replay(args []string) error {
	var e engineFlags
	f := flag.NewFlagSet("replay", flag.ContinueOnError)
	e.register(f)
	rest, helped, err := c.parse(f, replayHelp, args)
	if helped || err != nil {
		return err
	}
	if err := e.check(); err != nil {
		return usagef("replay", "%v", err)
	}
	if len(rest) != 1 {
		return usagef("replay", "give one journal, not %d", len(rest))
	}
	return c.replayFile(rest[0], &e)
}

func (c *command) replayFile(name string, e *engineFlags) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	reader, err := journal.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	header := &reader.Header
	if major := uint16(header.ABI >> 16); major != abi.Major {
		return fmt.Errorf("%s: %w", name, host.VersionError(major, uint16(header.ABI)))
	}
	s := newScreen(c.stdout, c.stderr, c.getenv)
	ctx, stop := interruptible()
	defer stop()
	engine, err := e.open(ctx, s.notice)
	if err != nil {
		return err
	}
	defer engine.Close(context.WithoutCancel(ctx))
	entries, err := journal.Replay(ctx, engine, reader)
	if err != nil {
		if recorded, here := header.Module, engine.ModuleHash(); recorded != here {
			s.notice(fmt.Sprintf("the journal is one of module %s on %s, this is module %s on %s", recorded, header.Engine, here, engine.Name()))
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	if entries == 0 {
		return fmt.Errorf("%s: the journal has no entries", name)
	}
	s.print(fmt.Sprintf("%s: %d entries from %s replayed on %s, all bytes are equal\n", name, entries, header.Engine, engine.Name()))
	return s.close()
}
