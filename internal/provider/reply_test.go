package provider_test

import (
	"bytes"
	"errors"
	"slices"

	"github.com/turncore/turncore/runtime"
)

// reply is a response. Its body is a stream of events unless mediaType says otherwise.
type reply struct {
	body      string
	status    int    // 200 if 0
	mediaType string // "text/event-stream" if empty
	part      int    // bytes that come at once; 0 for all
	first     int    // bytes that come first, before the others; 0 for none
	err       error  // how the connection ends, after body; nil for well
}

// response is a Stream of a reply.
type response struct {
	reply reply
	begun bool
	rest  []byte
}

func (d *dispatch) answer(r *runtime.HTTPRequest) (runtime.Stream, error) {
	if len(d.replies) == 0 {
		return nil, errors.New("a request too many")
	}
	r.Body, r.Splices = bytes.Clone(r.Body), slices.Clone(r.Splices)
	d.requests = append(d.requests, r)
	reply := d.replies[0]
	d.replies = d.replies[1:]
	return &response{reply: reply, rest: []byte(reply.body)}, nil
}

func (r *response) Next() (runtime.Chunk, bool, error) {
	if !r.begun {
		r.begun = true
		status, mediaType := r.reply.status, r.reply.mediaType
		if status == 0 {
			status = 200
		}
		if mediaType == "" {
			mediaType = "text/event-stream"
		}
		return runtime.Chunk{Status: status, Headers: [][2]string{{"content-type", mediaType}}}, true, nil
	}
	n := len(r.rest)
	if r.reply.part > 0 {
		n = min(n, r.reply.part)
	}
	if r.reply.first > 0 {
		n, r.reply.first = min(n, r.reply.first), 0
	}
	if n == 0 {
		return runtime.Chunk{}, false, r.reply.err
	}
	part := r.rest[:n]
	r.rest = r.rest[n:]
	return runtime.Chunk{Data: bytes.Clone(part)}, true, nil
}

func (r *response) Idle(uint64) {}
func (r *response) Cancel()     {}
