package faulty

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// patience is how long the server waits for a client to close a connection, and for what it is asked about.
const patience = 30 * time.Second

// Server serves the cases on loopback:
//
//	POST /SESSION/CASE/v1/chat/completions   the answer that is due
//	GET  /cases                              the cases, as a JSON list of [Case]
//	GET  /SESSION/CASE/arrived               answers when a request of the case has come
//	GET  /SESSION/CASE/seen                  [Seen], when all answers of the case have ended
type Server struct {
	// URL is the server's address, such as "http://127.0.0.1:40123".
	URL string
	// Cases are all cases of the table.
	Cases []*Case

	server   *http.Server
	byName   map[string]*Case
	patience time.Duration

	mu       sync.Mutex
	sessions map[string]*session
	change   chan struct{} // closed when a session changes
}

// Seen is what the provider has seen of a case.
type Seen struct {
	Requests int      `json:"requests"`
	Problems []string `json:"problems"` // requests that no provider would take, and connections that nobody closed
}

type session struct {
	Seen
	active int
}

// Serve reads the table and starts a server.
func Serve() (*Server, error) {
	faults, err := load()
	if err != nil {
		return nil, err
	}
	list, err := cases(faults)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("faulty: %w", err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("faulty: %w", err)
	}
	nobody := "http://" + closed.Addr().String()
	if err := closed.Close(); err != nil {
		return nil, fmt.Errorf("faulty: %w", err)
	}
	s := &Server{
		URL: "http://" + listener.Addr().String(), Cases: list,
		byName: map[string]*Case{}, patience: patience, sessions: map[string]*session{}, change: make(chan struct{}),
	}
	for _, c := range list {
		base := s.URL
		if c.refused {
			base = nobody
		}
		c.BaseURL = base + "/SESSION/" + c.Name + "/v1"
		s.byName[c.Name] = c
	}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: patience}
	go func() { _ = s.server.Serve(listener) }() // ends with Close
	return s, nil
}

// Close stops the server.
func (s *Server) Close() error { return s.server.Close() }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/cases" {
		reply(w, s.Cases)
		return
	}
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 3)
	if len(parts) < 3 || s.byName[parts[1]] == nil {
		http.NotFound(w, r)
		return
	}
	key := parts[0] + "/" + parts[1]
	switch parts[2] {
	case "arrived":
		s.Arrived(parts[0], parts[1])
		reply(w, true)
	case "seen":
		reply(w, s.Seen(parts[0], parts[1]))
	case "v1/chat/completions":
		s.serve(w, r, key, s.byName[parts[1]])
	default:
		http.NotFound(w, r)
	}
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that has gone away wants no answer
}

// Arrived returns when a request of the case has come, or patience is at its end.
func (s *Server) Arrived(word, name string) {
	s.wait(word+"/"+name, func(x *session) bool { return x.Requests > 0 })
}

// Seen returns what the provider has seen of a case, once all its answers have ended.
func (s *Server) Seen(word, name string) Seen {
	return s.wait(word+"/"+name, func(x *session) bool { return x.active == 0 })
}

func (s *Server) wait(key string, ready func(*session) bool) Seen {
	deadline := time.After(2 * patience)
	for {
		s.mu.Lock()
		x := s.session(key)
		seen, done, change := x.Seen, ready(x), s.change
		s.mu.Unlock()
		if done {
			return seen
		}
		select {
		case <-change:
		case <-deadline:
			seen.Problems = append(seen.Problems[:len(seen.Problems):len(seen.Problems)], "what was waited for did not happen")
			return seen
		}
	}
}

// session finds or makes a session. The caller holds s.mu.
func (s *Server) session(key string) *session {
	x := s.sessions[key]
	if x == nil {
		x = &session{Seen: Seen{Problems: []string{}}}
		s.sessions[key] = x
	}
	return x
}

// update changes a session.
func (s *Server) update(key string, f func(*session)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.session(key))
	close(s.change)
	s.change = make(chan struct{})
}

// serve answers a request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, key string, c *Case) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone away
	}
	answer := &good
	s.update(key, func(x *session) {
		if x.Requests < len(c.answers) {
			answer = &c.answers[x.Requests]
		}
		x.Requests++
		x.active++
		x.Problems = append(x.Problems, problems(body)...)
	})
	var problem error
	defer s.update(key, func(x *session) {
		x.active--
		if problem != nil {
			x.Problems = append(x.Problems, problem.Error())
		}
	})
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		problem = err
		return
	}
	defer conn.Close()
	problem = answer.send(conn.(*net.TCPConn), s.patience)
}

// send writes the answer to a connection, and what comes instead of it. The error is one of the client's.
func (a *Answer) send(conn *net.TCPConn, patience time.Duration) error {
	list, err := a.body()
	if err != nil {
		return err
	}
	size := 0
	for _, p := range list {
		size += len(p.bytes)
	}
	head := a.head(size)
	// Writing fails when the client has gone away, which is its right.
	write := func(b []byte) bool {
		_, err := conn.Write(b)
		return err == nil
	}
	switch a.Before {
	case "reset":
		return reset(conn)
	case "close":
		return nil
	case "silent":
		return left(conn, patience)
	case "half":
		write([]byte(head[:len(head)/2]))
		return left(conn, patience)
	case "half-close":
		write([]byte(head[:len(head)/2]))
		return nil
	case "garbage":
		write([]byte("Who is there?\r\n\r\n"))
		return nil
	case "drip":
		for i := 0; i < len(head); i += 16 {
			write([]byte(head[i:min(i+16, len(head))]))
			time.Sleep(3 * time.Millisecond)
		}
	case "early":
		write([]byte("HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n" + head))
	default:
		write([]byte(head))
	}
	chunked := a.Framing == "" || a.Framing == "chunked"
	for i, p := range list {
		time.Sleep(p.pause)
		text := p.bytes
		if chunked && len(text) > 0 {
			longer := 0
			if a.After == "close" && i == len(list)-1 {
				longer = 1
			}
			text = fmt.Appendf(nil, "%x\r\n%s", len(text)+longer, text)
			if longer == 0 {
				text = append(text, "\r\n"...)
			}
		}
		if len(text) > 0 && !write(text) {
			return nil
		}
	}
	switch a.After {
	case "reset":
		return reset(conn)
	case "close":
		return nil
	case "hold":
		return left(conn, patience)
	case "ping":
		return ping(conn, chunked, patience)
	case "bad-chunk":
		write([]byte("zz\r\n"))
		return nil
	}
	if chunked {
		write([]byte("0\r\n\r\n"))
	}
	return nil
}

// reset breaks a connection. What was written before has time to be read: a reset may overtake it.
func reset(conn *net.TCPConn) error {
	time.Sleep(3 * time.Millisecond)
	return errors.Join(conn.SetLinger(0), conn.Close())
}

// left waits for the client to close the connection.
func left(conn *net.TCPConn, patience time.Duration) error {
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.New("the client did not close the connection")
	}
	return nil
}

// ping writes comments until the client closes the connection.
func ping(conn *net.TCPConn, chunked bool, patience time.Duration) error {
	text := ": ping\n\n"
	if chunked {
		text = fmt.Sprintf("%x\r\n%s\r\n", len(text), text)
	}
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(10 * time.Millisecond) {
		if _, err := io.WriteString(conn, text); err != nil {
			return nil
		}
	}
	return errors.New("the client did not close the connection")
}

// problems lists what no provider would take of a request.
func problems(body []byte) []string {
	var request struct {
		Model    string
		Messages []struct {
			Role       string
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&request); err != nil {
		return []string{"the request is no JSON: " + err.Error()}
	}
	var list []string
	if request.Model == "" || len(request.Messages) == 0 {
		list = append(list, "the request has no model or no messages")
	}
	open := map[string]bool{}
	used := map[string]bool{}
	for i, m := range request.Messages {
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				list = append(list, fmt.Sprintf("message %d answers the call %q, which is not open", i, m.ToolCallID))
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			list = append(list, fmt.Sprintf("message %d comes before the answers to %d calls", i, len(open)))
			clear(open)
		}
		for _, call := range m.ToolCalls {
			switch {
			case call.ID == "" || used[call.ID]:
				list = append(list, fmt.Sprintf("message %d has a call whose id %q is empty or taken", i, call.ID))
			case call.Function.Name == "":
				list = append(list, fmt.Sprintf("message %d has a call without a name", i))
			case !json.Valid([]byte(call.Function.Arguments)):
				list = append(list, fmt.Sprintf("message %d has a call whose arguments are no JSON", i))
			}
			open[call.ID], used[call.ID] = true, true
		}
	}
	if len(open) > 0 {
		list = append(list, fmt.Sprintf("%d calls have no answer", len(open)))
	}
	return list
}
