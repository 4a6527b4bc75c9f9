package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// measures is the environment variable that makes a program of this test: the figures that it measures, between spaces.
const measures = "TURNCORE_TEST_MEASURES"

func TestMain(m *testing.M) {
	if list, ok := os.LookupEnv(measures); ok {
		if err := measureNothing(strings.Fields(list), os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// measureNothing writes its name and each figure to a log when it is told to measure it. A figure named fail fails.
func measureNothing(figures []string, name, log string) error {
	for _, id := range figures {
		if id == "fail" {
			return fmt.Errorf("%s has failed", name)
		}
		fmt.Println(id)
		if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
			return err
		}
		f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(f, "%s:%s ", name, id); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func TestBuildsTakeTurns(t *testing.T) {
	for _, c := range []struct {
		name, base, head, log string
		together, alone       int
	}{
		{
			"the same figures", "turn gate turn", "turn gate turn",
			"h:turn c:turn b:turn c:gate b:gate h:gate b:turn h:turn c:turn", 3, 0,
		},
		{
			"figures that the head alone has", "turn turn", "turn session turn",
			"h:turn c:turn b:turn h:session b:turn h:turn c:turn", 2, 1,
		},
		{"another order", "turn gate", "gate turn", "h:gate c:turn b:turn h:turn b:gate c:gate", 1, 1},
		{"nothing in common", "turn", "gate", "h:gate c:turn b:turn", 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			together, alone, err := takeTurns(programsOf(t, log, c.base, c.head), 0)
			if err != nil {
				t.Fatal(err)
			}
			measured, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(string(measured)); got != c.log {
				t.Errorf("measured %s\nwant     %s", got, c.log)
			}
			if together != c.together || alone != c.alone {
				t.Errorf("%d together and %d alone, want %d and %d", together, alone, c.together, c.alone)
			}
		})
	}
}

func TestABuildThatFails(t *testing.T) {
	_, _, err := takeTurns(programsOf(t, filepath.Join(t.TempDir(), "log"), "turn gate", "turn fail"), 0)
	if err == nil || !strings.Contains(err.Error(), "h has failed") {
		t.Errorf("%v, want what the head said", err)
	}
}

// programsOf are three programs named b, h and c that log what they measure.
func programsOf(t *testing.T, log, base, head string) (programs [3]*program) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	for i, figures := range []string{base, head, base} {
		if programs[i], err = newProgram(ctx, t.TempDir(), []string{self, "bhc"[i : i+1], log}); err != nil {
			t.Fatal(err)
		}
		programs[i].cmd.Env = append(programs[i].cmd.Env, measures+"="+figures)
	}
	return programs
}
