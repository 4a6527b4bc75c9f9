package sessions

import (
	"container/list"
	"sync"
)

// Bounds on the sessions that a service remembers. Beyond them the session used least recently is forgotten, and loaded
// in full when it is next used. The one used last always stays.
const (
	mostSessions     = 1024
	mostSessionBytes = 32 << 20 // of events
)

// cache has the sessions that were used last, by their ids in the store.
type cache struct {
	mu     sync.Mutex
	at     map[string]*list.Element // of *cached
	recent list.List                // used last in front
	bytes  int
}

type cached struct {
	key   string
	now   snapshot
	bytes int
}

// get returns a session as it was last known, nothing if it is not.
func (c *cache) get(key string) snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.at[key]
	if e == nil {
		return snapshot{}
	}
	c.recent.MoveToFront(e)
	return e.Value.(*cached).now
}

func (c *cache) put(key string, now snapshot) {
	bytes := now.events.bytes()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = make(map[string]*list.Element)
	}
	e := c.at[key]
	if e == nil {
		e = c.recent.PushFront(&cached{key: key})
		c.at[key] = e
	}
	c.recent.MoveToFront(e)
	r := e.Value.(*cached)
	c.bytes += bytes - r.bytes
	r.now, r.bytes = now, bytes
	for len(c.at) > mostSessions || c.bytes > mostSessionBytes && len(c.at) > 1 {
		c.drop(c.recent.Back())
	}
}

func (c *cache) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.at[key])
}

// drop removes a session; nil is none. The caller holds c.mu.
func (c *cache) drop(e *list.Element) {
	if e == nil {
		return
	}
	r := c.recent.Remove(e).(*cached)
	delete(c.at, r.key)
	c.bytes -= r.bytes
}
