package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
)

// turn runs one turn and tells how it went.
func (c *command) turn(s *session, prompt string) error {
	o := s.flags
	ctx, stop := interruptible()
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	s.last = nil
	in := turns.TurnInput{SystemPrompt: s.system, NoSystemPrompt: s.system == "", Text: prompt}
	if o.session != "" {
		in.Stash = map[string]any{turns.SessionKey: o.session}
	}
	if s.player != nil {
		s.player.say(&in, s.now())
	}
	closeLog, err := openLog(o.log, &in)
	if err != nil {
		return err
	}
	out, view := &lines{w: c.stdout, stop: cancel}, newShow(s.screen, o.verbose)
	if in.OnEvent = view.event; o.json {
		in.OnEvent = out.event
	}
	result, err := s.runner.TurnRunner.Run(ctx, in)
	if result != nil && err == result.Err {
		err = nil // shown with the result
	}
	if e := closeLog(); err == nil {
		err = e
	}
	if result == nil {
		return err
	}
	if o.json {
		err = errors.Join(err, out.end(s.last, result))
	} else {
		view.end(result)
		err = errors.Join(err, s.screen.close())
	}
	if verdict := s.verdict(result); err == nil {
		err = verdict
	}
	return err
}

// verdict says whether a turn went as it should.
func (s *session) verdict(result *turns.Result) error {
	if s.player != nil {
		return s.player.verdict(s.screen, result, s.flags)
	}
	if result.Status != event.Ack {
		return errTold
	}
	return nil
}

// openLog makes the file of the journal. It holds all that was said, so it is for its owner only.
func openLog(name string, in *turns.TurnInput) (closeLog func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	in.Journal = file
	return file.Close, nil
}

// chat runs a turn for each line that comes in, all of one conversation, until the input ends.
func (c *command) chat(s *session) error {
	fmt.Fprintln(c.stderr, "A line is a turn. Ctrl-C stops a turn, Ctrl-D ends the conversation.")
	input := bufio.NewReaderSize(c.stdin, 64<<10)
	for {
		fmt.Fprint(c.stderr, "\n> ")
		line, err := input.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			// How a turn ended was told. It does not end the conversation.
			if err := c.turn(s, line); err != nil && !errors.Is(err, errTold) {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			fmt.Fprintln(c.stderr)
			return nil
		case err != nil:
			return fmt.Errorf("standard input: %w", err)
		}
	}
}
