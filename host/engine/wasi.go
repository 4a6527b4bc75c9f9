package engine

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"time"
)

// Error numbers of WASI.
const (
	errnoBadf  = 8
	errnoFault = 21
	errnoInval = 28
)

// What calls of WASI cost in fuel: each one as much as a call takes longer than a round of a loop does, and besides for
// what it is asked to do.
const (
	callUnits       = 64
	bytesOfUnit     = 256 // that are written
	randomOfUnit    = 1   // bytes of randomness
	vectorUnits     = 16  // each vector of fd_write
	subscribedUnits = 16  // each subscription of poll_oneoff
)

// Clocks and what is subscribed to.
const (
	clockRealtime     = 0
	clockMonotonic    = 1
	subscriptionSize  = 48
	eventSize         = 32
	subscriptionClock = 0
)

// ErrSpent ends a guest whose call of WASI costs more fuel than it has.
var ErrSpent = errors.New("a call of WASI costs more fuel than is left")

// A WASICall is a call of a function of WASI preview 1 by a guest.
type WASICall struct {
	Guest  *Guest
	Memory []byte   // of the instance
	Params []uint64 // values of 32 bits are in the lower half
	// Pay takes so many units of fuel from what the module has. Its error ends the guest: [ErrSpent] if it has fewer. nil
	// if nothing is counted.
	Pay func(units uint64) error
}

// Do does what the function of that name does: those that abi/SPEC.md lists, and clock_res_get. Others, which programs
// link without need, fail: there are no files. It returns what WASI calls an errno. The error is final, and must end
// the guest: an [ExitError] of proc_exit, [ErrSleep], or one of Pay.
func (c *WASICall) Do(name string) (errno uint32, err error) {
	if err := c.pay(callUnits); err != nil {
		return 0, err
	}
	switch name {
	case "args_get", "environ_get", "sched_yield":
		return 0, nil
	case "args_sizes_get", "environ_sizes_get":
		return c.noTexts(), nil
	case "clock_res_get":
		return c.clockResolution(), nil
	case "clock_time_get":
		return c.clockTime(), nil
	case "fd_write":
		return c.write()
	case "poll_oneoff":
		return c.poll()
	case "proc_exit":
		return 0, ExitError(c.Params[0])
	case "random_get":
		return c.random()
	}
	return errnoBadf, nil
}

func (c *WASICall) pay(units uint64) error {
	if c.Pay == nil {
		return nil
	}
	return c.Pay(units)
}

// at returns size bytes of the memory, nil if they are outside.
func (c *WASICall) at(address, size uint64) []byte {
	address = uint64(uint32(address))
	if size > 1<<32-1 || address+size > uint64(len(c.Memory)) {
		return nil
	}
	return c.Memory[address:][:size:size]
}

// put writes a number of so many bytes.
func (c *WASICall) put(address, size, v uint64) uint32 {
	b := c.at(address, size)
	if b == nil {
		return errnoFault
	}
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], v)
	copy(b, all[:])
	return 0
}

// noTexts answers a guest that asks for its arguments or its environment: it has none.
func (c *WASICall) noTexts() uint32 {
	if errno := c.put(c.Params[0], 4, 0); errno != 0 {
		return errno
	}
	return c.put(c.Params[1], 4, 0)
}

func (c *WASICall) clockResolution() uint32 {
	if uint32(c.Params[0]) > clockMonotonic {
		return errnoInval
	}
	return c.put(c.Params[1], 8, 1)
}

// began is where the monotonic clock begins, less what keeps it from zero.
var began = time.Now().Add(-time.Second)

func (c *WASICall) clockTime() uint32 {
	switch uint32(c.Params[0]) {
	case clockRealtime:
		return c.put(c.Params[2], 8, uint64(time.Now().UnixNano()))
	case clockMonotonic:
		return c.put(c.Params[2], 8, uint64(time.Since(began)))
	}
	return errnoInval
}

func (c *WASICall) random() (uint32, error) {
	b := c.at(c.Params[0], uint64(uint32(c.Params[1])))
	if b == nil {
		return errnoFault, nil
	}
	if err := c.pay(uint64(len(b)) / randomOfUnit); err != nil {
		return 0, err
	}
	_, err := io.ReadFull(rand.Reader, b)
	return 0, err
}

func (c *WASICall) write() (uint32, error) {
	if fd := uint32(c.Params[0]); fd != 1 && fd != 2 {
		return errnoBadf, nil
	}
	count := uint64(uint32(c.Params[2]))
	vectors := c.at(c.Params[1], 8*count)
	if vectors == nil {
		return errnoFault, nil
	}
	if err := c.pay(count * vectorUnits); err != nil {
		return 0, err
	}
	written := uint32(0)
	for ; len(vectors) > 0; vectors = vectors[8:] {
		b := c.at(uint64(binary.LittleEndian.Uint32(vectors)), uint64(binary.LittleEndian.Uint32(vectors[4:])))
		if b == nil {
			return errnoFault, nil
		}
		if err := c.pay(uint64(len(b)) / bytesOfUnit); err != nil {
			return 0, err
		}
		n, _ := c.Guest.Write(b) // never fails
		written += uint32(n)
	}
	return c.put(c.Params[3], 4, uint64(written)), nil
}

// poll is done with what it is subscribed to at once: with clocks after a nap, with files, of which there are none, by
// an error.
func (c *WASICall) poll() (uint32, error) {
	in, out, count := c.Params[0], uint64(uint32(c.Params[1])), uint64(uint32(c.Params[2]))
	if count == 0 {
		return errnoInval, nil
	}
	subscriptions := c.at(in, count*subscriptionSize)
	if subscriptions == nil || c.at(out, count*eventSize) == nil {
		return errnoFault, nil
	}
	if err := c.pay(count * subscribedUnits); err != nil {
		return 0, err
	}
	shortest, clocks := int64(0), false
	for k := range count {
		s := subscriptions[k*subscriptionSize:][:subscriptionSize]
		var event [eventSize]byte
		copy(event[:], s[:8]) // the subscriber's own data
		event[10] = s[8]
		if s[8] == subscriptionClock {
			if binary.LittleEndian.Uint16(s[40:]) != 0 { // a time, not a duration
				return errnoInval, nil
			}
			ns := int64(min(binary.LittleEndian.Uint64(s[24:]), 1<<63-1))
			if !clocks || ns < shortest {
				shortest, clocks = ns, true
			}
		} else {
			event[8] = errnoBadf
		}
		copy(c.at(out+k*eventSize, eventSize), event[:])
	}
	if clocks && shortest > 0 {
		if err := c.Guest.Sleep(shortest); err != nil {
			return 0, err
		}
	}
	return c.put(c.Params[3], 4, count), nil
}
