package wasmtime

import (
	"encoding/binary"
	"errors"
	"math"

	wt "github.com/bytecodealliance/wasmtime-go/v39"

	"github.com/turncore/turncore/host/engine"
)

// wasi is the module that guests import.
const wasi = "wasi_snapshot_preview1"

// Results of functions.
const (
	success     int32 = 0
	badFile     int32 = 8
	badPointer  int32 = 21
	invalid     int32 = 28
	unsupported int32 = 58
)

// maxVectors is how many pieces a call may have, so that it ends soon whatever they say.
const maxVectors = 1024

// newLinker returns the functions that a module may import: Wasmtime's own, which have clocks and random bytes but no file,
// and those of these that an [engine.Guest] serves. All instances of an engine share them.
func newLinker(e *wt.Engine) (*wt.Linker, error) {
	linker := wt.NewLinker(e)
	linker.AllowShadowing(true)
	return linker, errors.Join(
		linker.DefineWasi(),
		linker.FuncWrap(wasi, "fd_write", write),
		linker.FuncWrap(wasi, "poll_oneoff", poll),
	)
}

// memoryOf is the memory of the instance that calls, nil for none.
func memoryOf(caller *wt.Caller) []byte {
	item := caller.GetExport(engine.ExportMemory)
	if item == nil || item.Memory() == nil {
		return nil
	}
	return item.Memory().UnsafeData(caller)
}

// piece returns size bytes of the memory, nil if they are outside of it.
func piece(memory []byte, at, size uint32) []byte {
	end := uint64(at) + uint64(size)
	if end > uint64(len(memory)) {
		return nil
	}
	return memory[at:end:end]
}

// write is fd_write, for stdout and stderr.
func write(caller *wt.Caller, fd, vectors, count, written int32) int32 {
	if fd != 1 && fd != 2 {
		return badFile
	}
	if uint32(count) > maxVectors {
		return invalid
	}
	memory := memoryOf(caller)
	list, result := piece(memory, uint32(vectors), 8*uint32(count)), piece(memory, uint32(written), 4)
	if list == nil || result == nil {
		return badPointer
	}
	guest := caller.Data().(*instance).guest
	sum := uint64(0)
	for ; len(list) > 0; list = list[8:] {
		at, size := binary.LittleEndian.Uint32(list), binary.LittleEndian.Uint32(list[4:])
		said := piece(memory, at, size)
		if said == nil {
			return badPointer
		}
		if sum += uint64(size); sum > math.MaxInt32 {
			return invalid
		}
		_, _ = guest.Write(said) // it never fails
	}
	binary.LittleEndian.PutUint32(result, uint32(sum))
	return success
}

// Sizes and kinds of poll_oneoff.
const (
	subscriptionSize = 48
	eventSize        = 32
	ofClock          = 0
)

// poll is poll_oneoff. Files are answered at once: there are none. A sleep is what an [engine.Guest] makes of it.
func poll(caller *wt.Caller, subscriptions, events, count, happened int32) (int32, *wt.Trap) {
	if count == 0 || uint32(count) > maxVectors {
		return invalid, nil
	}
	memory, n := memoryOf(caller), uint32(count)
	asked, told := piece(memory, uint32(subscriptions), n*subscriptionSize), piece(memory, uint32(events), n*eventSize)
	result := piece(memory, uint32(happened), 4)
	if asked == nil || told == nil || result == nil {
		return badPointer, nil
	}
	var answers []byte
	sleep := uint64(math.MaxUint64)
	for s := asked; len(s) > 0; s = s[subscriptionSize:] {
		switch {
		case s[8] != ofClock:
			answers = appendEvent(answers, s, badFile)
		case binary.LittleEndian.Uint16(s[40:]) != 0: // until a time, not for a time
			answers = appendEvent(answers, s, unsupported)
		default:
			sleep = min(sleep, binary.LittleEndian.Uint64(s[24:]))
		}
	}
	if len(answers) == 0 {
		i := caller.Data().(*instance)
		if err := i.guest.Sleep(int64(min(sleep, math.MaxInt64))); err != nil {
			i.cause = err
			return 0, wt.NewTrap(err.Error())
		}
		for s := asked; len(s) > 0; s = s[subscriptionSize:] {
			if binary.LittleEndian.Uint64(s[24:]) == sleep {
				answers = appendEvent(answers, s, success)
			}
		}
	}
	copy(told, answers) // after all is read: they may overlap
	binary.LittleEndian.PutUint32(result, uint32(len(answers)/eventSize))
	return success, nil
}

// appendEvent appends what has become of a subscription.
func appendEvent(answers, subscription []byte, result int32) []byte {
	var event [eventSize]byte
	copy(event[:8], subscription) // what the guest calls it
	binary.LittleEndian.PutUint16(event[8:], uint16(result))
	event[10] = subscription[8]
	return append(answers, event[:]...)
}
