package recording

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/turncore/turncore/host"
)

// maxPart is the longest part, in bytes, that a response is served in.
const maxPart = 48

// Server answers the n-th request with the n-th recorded response, in parts that are cut at random bytes.
type Server struct {
	recording *Recording
	random    host.Entropy

	mu          sync.Mutex
	bodies      [][]byte // of the requests
	differences []Difference
}

// NewServer returns a server; the parts are the same for the same seed.
func NewServer(r *Recording, seed uint32) *Server {
	return &Server{recording: r, random: host.SeededEntropy(seed)}
}

// Differences of the requests so far.
func (s *Server) Differences() []Difference {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Difference(nil), s.differences...)
}

// Requests so far.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

// Bodies of the requests so far.
func (s *Server) Bodies() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	n := s.take(body)
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") || n >= len(s.recording.Interactions) {
		http.Error(w, "the recording has no response to this request", http.StatusNotFound)
		return
	}
	response := s.recording.Interactions[n].Response
	w.Header()["Date"] = nil // a recording is served the same at any time
	w.Header().Set("Content-Type", response.ContentType)
	w.WriteHeader(response.Status)
	flusher, _ := w.(http.Flusher)
	for rest := response.Body; rest != ""; {
		size := min(partSize(s.random), len(rest))
		if _, err := io.WriteString(w, rest[:size]); err != nil {
			return // the client has gone
		}
		if flusher != nil {
			flusher.Flush()
		}
		rest = rest[size:]
	}
}

// take counts a request and compares it.
func (s *Server) take(body []byte) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = len(s.bodies)
	s.bodies = append(s.bodies, body)
	s.differences = append(s.differences, s.recording.Compare(n, body)...)
	return n
}

// Cut returns a response's body that is read in parts cut at random bytes, whatever parts the network delivers: the
// same parts for the same random numbers.
func Cut(body io.ReadCloser, random host.Entropy) io.ReadCloser {
	return &cut{ReadCloser: body, random: random}
}

type cut struct {
	io.ReadCloser
	random host.Entropy
}

// Read reads the next part, waiting until it is whole.
func (c *cut) Read(p []byte) (int, error) {
	n, err := io.ReadFull(c.ReadCloser, p[:min(partSize(c.random), len(p))])
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // the end is told by the next call
	}
	return n, err
}

// partSize draws the size of a part.
func partSize(random host.Entropy) int {
	var b [1]byte
	random(b[:])
	return 1 + int(b[0])%maxPart
}
