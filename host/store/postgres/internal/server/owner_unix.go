//go:build unix

package server

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// owner is who runs the server: it does not run as root. ok is false if that is who runs the test.
func owner() (uid, gid uint32, ok bool, err error) {
	if os.Geteuid() != 0 {
		return 0, 0, false, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return 0, 0, false, fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	n, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return 0, 0, false, err
	}
	m, err := strconv.ParseUint(u.Gid, 10, 32)
	return uint32(n), uint32(m), true, err
}

// own gives a folder to who runs the server.
func own(folder string) error {
	uid, gid, ok, err := owner()
	if err != nil || !ok {
		return err
	}
	return os.Chown(folder, int(uid), int(gid))
}

// command is a program that runs as who runs the server.
func command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = "/"
	if uid, gid, ok, err := owner(); err == nil && ok {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	}
	return c
}
