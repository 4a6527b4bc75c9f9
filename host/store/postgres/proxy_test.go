package postgres

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// verdict is what a proxy does with a statement.
type verdict int

const (
	pass      verdict = iota
	lose              // the connections break before the server gets it
	hurry             // the server gets it, and the connections break at once
	unanswer          // the connections break when the server has answered
	swallow           // the server gets it, and its answers get lost from then on
	blackHole         // nothing gets through any more
)

// proxy stands between stores and the server.
type proxy struct {
	server   string // its socket
	folder   string
	listener net.Listener
	group    sync.WaitGroup

	mu    sync.Mutex
	open  []net.Conn
	judge func(statement string) verdict
	after func() // is called with an answer before it gets lost
}

// proxied starts a proxy before the server until the test ends.
func proxied(t *testing.T) *proxy {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "turncore-proxy-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	const socket = ".s.PGSQL.5432"
	p := &proxy{server: filepath.Join(running.Folder(), socket), folder: folder}
	if p.listener, err = net.Listen("unix", filepath.Join(folder, socket)); err != nil {
		t.Fatal(err)
	}
	p.group.Go(p.serve)
	t.Cleanup(func() {
		_ = p.listener.Close()
		p.mu.Lock()
		for _, c := range p.open {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.group.Wait()
		_ = os.RemoveAll(folder)
	})
	return p
}

// url is that of a database of the server through the proxy.
func (p *proxy) url(direct string) string {
	return strings.Replace(direct, "host="+running.Folder(), "host="+p.folder, 1)
}

// judges has a function judge the statements that come: the text of a simple one, "" of a prepared one.
func (p *proxy) judges(judge func(statement string) verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.judge = judge
}

func (p *proxy) verdict(statement string) verdict {
	p.mu.Lock()
	judge := p.judge
	p.mu.Unlock()
	if judge == nil {
		return pass
	}
	return judge(statement)
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.open = append(p.open, client, server)
		p.mu.Unlock()
		c := &proxiedConn{p: p, client: client, server: server}
		p.group.Go(c.answers)
		p.group.Go(c.statements)
	}
}

// cancelRequest begins a connection that only cancels what another one does.
const cancelRequest = 80877102

// proxiedConn is a connection through a proxy.
type proxiedConn struct {
	p              *proxy
	client, server net.Conn
	last           atomic.Bool // the next answer is the last
	mute           atomic.Bool // the answers get lost
}

func (c *proxiedConn) close() {
	_ = c.client.Close()
	_ = c.server.Close()
}

// answers hands on what the server says.
func (c *proxiedConn) answers() {
	defer c.close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := c.server.Read(buffer)
		if err != nil {
			return
		}
		if c.last.Load() {
			c.p.mu.Lock()
			after := c.p.after
			c.p.mu.Unlock()
			if after != nil {
				after()
			}
			return
		}
		if c.mute.Load() {
			continue
		}
		if _, err := c.client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// statements hands on what the client says, message by message.
func (c *proxiedConn) statements() {
	defer c.close()
	head := make([]byte, 5)
	for kind := 0; ; kind = 1 { // the first message has no byte for its kind
		if _, err := io.ReadFull(c.client, head[:4+kind]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[kind:])-4)
		if _, err := io.ReadFull(c.client, body); err != nil {
			return
		}
		judged := pass
		switch {
		case kind == 1 && head[0] == 'Q':
			judged = c.p.verdict(strings.ToLower(strings.TrimSuffix(string(body), "\x00")))
		case kind == 0 && binary.BigEndian.Uint32(body) == cancelRequest:
			// passes, for it is no statement
		case kind == 0 || head[0] == 'S':
			judged = c.p.verdict("")
		}
		switch judged {
		case lose:
			return
		case unanswer:
			c.last.Store(true)
		case swallow:
			c.mute.Store(true)
		case blackHole:
			_, _ = io.Copy(io.Discard, c.client)
			return
		}
		if _, err := c.server.Write(append(head[:4+kind:4+kind], body...)); err != nil || judged == hurry {
			return
		}
	}
}
