package wazero

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"

	wz "github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
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

// errSpent ends a guest whose call of WASI costs more than it has.
var errSpent = errors.New("a call of WASI costs more fuel than is left")

// wasiDefinitions are all functions of WASI preview 1 with their types.
var wasiDefinitions = sync.OnceValues(func() (map[string]api.FunctionDefinition, error) {
	ctx := context.Background()
	r := wz.NewRuntimeWithConfig(ctx, wz.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, err
	}
	return r.Module(wasi_snapshot_preview1.ModuleName).ExportedFunctionDefinitions(), nil
})

// instantiateWASI gives a runtime the functions of WASI: those that abi/SPEC.md lists, and for programs that link others
// without need, functions that fail.
func instantiateWASI(ctx context.Context, r wz.Runtime) error {
	definitions, err := wasiDefinitions()
	if err != nil {
		return err
	}
	b := r.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	for name, d := range definitions {
		f, ok := wasi[name]
		if !ok {
			f = missing
		}
		call := f
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, m api.Module, stack []uint64) {
			i := ctx.Value(callerKey{}).(*instance)
			i.module = m // a start function calls before anybody else knows it
			i.pay(callUnits)
			if result := call(i, stack); len(stack) > 0 {
				stack[0] = result
			}
		}), d.ParamTypes(), d.ResultTypes()).Export(name)
	}
	_, err = b.Instantiate(ctx)
	return err
}

// callerKey is the key of the instance in the context of its calls.
type callerKey struct{}

// wasi are the functions that do something. They get the parameters and return what WASI calls an errno.
var wasi = map[string]func(i *instance, params []uint64) uint64{
	"args_get":          func(*instance, []uint64) uint64 { return 0 },
	"args_sizes_get":    noTexts,
	"environ_get":       func(*instance, []uint64) uint64 { return 0 },
	"environ_sizes_get": noTexts,
	"clock_res_get":     clockResolution,
	"clock_time_get":    clockTime,
	"fd_write":          write,
	"poll_oneoff":       poll,
	"proc_exit":         func(_ *instance, params []uint64) uint64 { panic(sys.NewExitError(uint32(params[0]))) },
	"random_get":        random,
	"sched_yield":       func(*instance, []uint64) uint64 { return 0 },
}

// missing is a function on files that the module does not have.
func missing(*instance, []uint64) uint64 { return errnoBadf }

// pay takes units from what a module may do that counts it, and ends the module if there are fewer.
func (i *instance) pay(units uint64) {
	if i.fuel == nil {
		return
	}
	left := int64(i.fuel.Get()) - int64(min(units, 1<<40))
	i.fuel.Set(uint64(left))
	if left < 0 {
		panic(errSpent)
	}
}

// at returns size bytes of the memory, nil if they are outside.
func (i *instance) at(address, size uint64) []byte {
	if size > 1<<32-1 {
		return nil
	}
	b, ok := i.module.Memory().Read(uint32(address), uint32(size))
	if !ok {
		return nil
	}
	return b
}

// put writes a number of so many bytes.
func (i *instance) put(address uint64, size uint64, v uint64) uint64 {
	b := i.at(address, size)
	if b == nil {
		return errnoFault
	}
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], v)
	copy(b, all[:])
	return 0
}

// noTexts says that there are no arguments, or no environment.
func noTexts(i *instance, params []uint64) uint64 {
	if errno := i.put(params[0], 4, 0); errno != 0 {
		return errno
	}
	return i.put(params[1], 4, 0)
}

func clockResolution(i *instance, params []uint64) uint64 {
	if uint32(params[0]) > clockMonotonic {
		return errnoInval
	}
	return i.put(params[1], 8, 1)
}

// began is where the monotonic clock begins, less what keeps it from zero.
var began = time.Now().Add(-time.Second)

func clockTime(i *instance, params []uint64) uint64 {
	switch uint32(params[0]) {
	case clockRealtime:
		return i.put(params[2], 8, uint64(time.Now().UnixNano()))
	case clockMonotonic:
		return i.put(params[2], 8, uint64(time.Since(began)))
	}
	return errnoInval
}

func random(i *instance, params []uint64) uint64 {
	b := i.at(params[0], uint64(uint32(params[1])))
	if b == nil {
		return errnoFault
	}
	i.pay(uint64(len(b)) / randomOfUnit)
	if _, err := io.ReadFull(rand.Reader, b); err != nil {
		panic(err)
	}
	return 0
}

func write(i *instance, params []uint64) uint64 {
	if fd := uint32(params[0]); fd != 1 && fd != 2 {
		return errnoBadf
	}
	count := uint64(uint32(params[2]))
	vectors := i.at(params[1], 8*count)
	if vectors == nil {
		return errnoFault
	}
	i.pay(count * vectorUnits)
	written := uint32(0)
	for ; len(vectors) > 0; vectors = vectors[8:] {
		b := i.at(uint64(binary.LittleEndian.Uint32(vectors)), uint64(binary.LittleEndian.Uint32(vectors[4:])))
		if b == nil {
			return errnoFault
		}
		i.pay(uint64(len(b)) / bytesOfUnit)
		n, _ := i.guest.Write(b) // never fails
		written += uint32(n)
	}
	return i.put(params[3], 4, uint64(written))
}

// poll is done with what it is subscribed to at once: with clocks after a nap, with files, of which there are none, by an
// error.
func poll(i *instance, params []uint64) uint64 {
	in, out, count := params[0], params[1], uint64(uint32(params[2]))
	if count == 0 {
		return errnoInval
	}
	subscriptions := i.at(in, count*subscriptionSize)
	if subscriptions == nil || i.at(out, count*eventSize) == nil {
		return errnoFault
	}
	i.pay(count * subscribedUnits)
	shortest, clocks := int64(0), false
	for k := range count {
		s := subscriptions[k*subscriptionSize:][:subscriptionSize]
		var event [eventSize]byte
		copy(event[:], s[:8]) // the subscriber's own data
		event[10] = s[8]
		if s[8] == subscriptionClock {
			if binary.LittleEndian.Uint16(s[40:]) != 0 { // a time, not a duration
				return errnoInval
			}
			ns := int64(min(binary.LittleEndian.Uint64(s[24:]), 1<<63-1))
			if !clocks || ns < shortest {
				shortest, clocks = ns, true
			}
		} else {
			event[8] = errnoBadf
		}
		copy(i.at(out+k*eventSize, eventSize), event[:])
	}
	if clocks && shortest > 0 {
		if err := i.guest.Sleep(shortest); err != nil {
			panic(err)
		}
	}
	return i.put(params[3], 4, count)
}
