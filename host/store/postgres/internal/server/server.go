// Package server starts a PostgreSQL server of its own for tests: in a new folder, with a socket and no port.
package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

// Server is a running server.
type Server struct {
	folder  string
	process *exec.Cmd
	log     *os.File
	count   atomic.Int64
}

// Start makes a database cluster and starts a server for it. It needs the programs of Debian's package postgresql.
func Start(ctx context.Context) (_ *Server, err error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("/tmp", "turncore-postgres-") // a socket's path is short
	if err != nil {
		return nil, err
	}
	s := &Server{folder: folder}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if err := own(folder); err != nil {
		return nil, err
	}
	data := filepath.Join(folder, "data")
	made := command(
		filepath.Join(bin, "initdb"), "-D", data, "-U", "turncore", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync",
	)
	if out, err := made.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if s.log, err = os.Create(filepath.Join(folder, "log")); err != nil {
		return nil, err
	}
	return s, s.Resume(ctx)
}

// Resume starts the server, as after Crash. It returns when the server answers.
func (s *Server) Resume(ctx context.Context) error {
	bin, err := programs()
	if err != nil {
		return err
	}
	s.process = command(
		filepath.Join(bin, "postgres"), "-D", filepath.Join(s.folder, "data"), "-k", s.folder,
		"-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200",
	)
	s.process.Stdout, s.process.Stderr = s.log, s.log
	if err := s.process.Start(); err != nil {
		return err
	}
	for range 1200 {
		ready := command(filepath.Join(bin, "pg_isready"), "-q", "-h", s.folder)
		if ready.Run() == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
	out, _ := os.ReadFile(filepath.Join(s.folder, "log"))
	return fmt.Errorf("the server does not begin:\n%s", out)
}

// Crash ends the server and all its sessions at once, without any writing: what is not in its log is lost.
func (s *Server) Crash() error {
	if err := s.process.Process.Signal(syscall.SIGQUIT); err != nil {
		return err
	}
	_ = s.process.Wait() // it fails, for the server did not end as it should
	return nil
}

// Folder has the server's socket and its data.
func (s *Server) Folder() string { return s.folder }

// Stop stops the server and deletes its folder.
func (s *Server) Stop() {
	if s.process != nil && s.process.Process != nil {
		_ = s.process.Process.Signal(os.Interrupt) // ends its sessions
		_ = s.process.Wait()                       // how it ends does not matter
	}
	if s.log != nil {
		_ = s.log.Close()
	}
	_ = os.RemoveAll(s.folder)
}

// URL is that of a database of the server.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("host=%s user=turncore dbname=%s", s.folder, database)
}

// Create makes an empty database and returns its URL.
func (s *Server) Create(ctx context.Context) (url string, err error) {
	name := fmt.Sprintf("test%d", s.count.Add(1))
	bin, err := programs()
	if err != nil {
		return "", err
	}
	made := exec.CommandContext(ctx, filepath.Join(bin, "createdb"), "-h", s.folder, "-U", "turncore", name)
	if out, err := made.CombinedOutput(); err != nil {
		return "", fmt.Errorf("createdb: %w\n%s", err, out)
	}
	return s.URL(name), nil
}

// programs is the folder of the server's programs. Debian has one for each version.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		path, err = filepath.EvalSymlinks(path)
		return filepath.Dir(path), err
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("PostgreSQL's initdb is missing: install Debian's package postgresql, or put it in PATH")
	}
	return filepath.Dir(found[len(found)-1]), nil
}
