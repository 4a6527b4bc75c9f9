package wasmtime

/*
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// What follows is of Wasmtime's C API, which its Go module links: a call through that module's own functions takes
// fifty times as long. Its headers are not where cgo finds them.
typedef struct wasmtime_context wasmtime_context_t;
typedef struct wasmtime_error wasmtime_error_t;
typedef struct wasm_trap_t wasm_trap_t;
typedef struct { size_t size; char *data; } wasm_byte_vec_t;
typedef struct { uint64_t store_id; void *private; } wasmtime_func_t;
typedef struct { struct { uint64_t store_id; uint32_t private1; }; uint32_t private2; } wasmtime_memory_t;
typedef struct { uint8_t kind; union { wasmtime_func_t func; wasmtime_memory_t memory; } of; } wasmtime_extern_t;
typedef union { int32_t i32; int64_t i64; uint8_t v128[16]; void *funcref; } wasmtime_val_raw_t;

extern wasmtime_error_t *wasmtime_func_call_unchecked(wasmtime_context_t *, const wasmtime_func_t *, wasmtime_val_raw_t *,
                                                      size_t, wasm_trap_t **);
extern uint8_t *wasmtime_memory_data(const wasmtime_context_t *, const wasmtime_memory_t *);
extern size_t wasmtime_memory_data_size(const wasmtime_context_t *, const wasmtime_memory_t *);
extern void wasmtime_context_set_epoch_deadline(wasmtime_context_t *, uint64_t);
extern void wasm_trap_message(const wasm_trap_t *, wasm_byte_vec_t *);
extern bool wasmtime_trap_code(const wasm_trap_t *, uint8_t *);
extern void wasm_trap_delete(wasm_trap_t *);
extern void wasmtime_error_message(const wasmtime_error_t *, wasm_byte_vec_t *);
extern bool wasmtime_error_exit_status(const wasmtime_error_t *, int *);
extern void wasmtime_error_delete(wasmtime_error_t *);
extern void wasm_byte_vec_delete(wasm_byte_vec_t *);

typedef struct {
  wasmtime_context_t *context;
  wasmtime_memory_t memory;
  uint8_t *data;            // of the memory, after the last call
  size_t size;
  wasmtime_error_t *error;  // of the last call, or
  wasm_trap_t *trap;
} guest_t;

static void look(guest_t *g) {
  g->data = wasmtime_memory_data(g->context, &g->memory);
  g->size = wasmtime_memory_data_size(g->context, &g->memory);
}

// call calls a function of one parameter or none, and of one result or none. ticks are its time, 0 if they stay.
static uint64_t call(guest_t *g, const wasmtime_func_t *f, uint32_t argument, uint64_t ticks) {
  wasmtime_val_raw_t value;
  memset(&value, 0, sizeof value);
  value.i32 = argument;
  if (ticks > 0) wasmtime_context_set_epoch_deadline(g->context, ticks);
  g->trap = NULL;
  g->error = wasmtime_func_call_unchecked(g->context, f, &value, 1, &g->trap);
  look(g);
  return value.i64;
}

// failure is what a call failed with, which is freed.
typedef struct {
  wasm_byte_vec_t text; // to be freed
  int code;             // of a trap, -1 for none
  int status;           // with which it has exited, if it has
  bool exited;
} failure_t;

static failure_t failure(guest_t *g) {
  failure_t f = {{0, NULL}, -1, 0, false};
  uint8_t code;
  if (g->error != NULL) {
    f.exited = wasmtime_error_exit_status(g->error, &f.status);
    wasmtime_error_message(g->error, &f.text);
    wasmtime_error_delete(g->error);
  }
  if (g->trap != NULL) {
    if (wasmtime_trap_code(g->trap, &code)) f.code = code;
    wasm_byte_vec_delete(&f.text);
    wasm_trap_message(g->trap, &f.text);
    wasm_trap_delete(g->trap);
  }
  g->error = NULL;
  g->trap = NULL;
  return f;
}
*/
import "C"

import (
	"unsafe"

	wt "github.com/bytecodealliance/wasmtime-go/v39"

	"github.com/turncore/turncore/host/engine"
)

// guest is an instance as the C API has it.
type guest struct{ c C.guest_t }

// function is an exported function.
type function struct{ c C.wasmtime_func_t }

// setMemory has the guest use a memory of a store.
func (g *guest) setMemory(store *wt.Store, memory *wt.Memory) {
	item := memory.AsExtern()
	g.c.context = (*C.wasmtime_context_t)(unsafe.Pointer(store.Context()))
	g.c.memory = *(*C.wasmtime_memory_t)(unsafe.Pointer(&(*C.wasmtime_extern_t)(unsafe.Pointer(&item)).of))
	C.look(&g.c)
}

// newFunction returns a function of a store; nil for nil.
func newFunction(f *wt.Func) *function {
	if f == nil {
		return nil
	}
	item := f.AsExtern()
	return &function{*(*C.wasmtime_func_t)(unsafe.Pointer(&(*C.wasmtime_extern_t)(unsafe.Pointer(&item)).of))}
}

// memory is the memory as it is after the last call.
func (g *guest) memory() []byte { return unsafe.Slice((*byte)(g.c.data), g.c.size) }

// call calls a function of one parameter or none. ticks are the epochs that it may run, 0 for those that are left.
func (g *guest) call(f *function, argument uint32, ticks uint64) (uint64, error) {
	value := C.call(&g.c, &f.c, C.uint32_t(argument), C.uint64_t(ticks))
	if g.c.error == nil && g.c.trap == nil {
		return uint64(value), nil
	}
	why := C.failure(&g.c)
	defer C.wasm_byte_vec_delete(&why.text)
	if why.exited {
		return 0, engine.ExitError(why.status)
	}
	return 0, newTrap(int(why.code), C.GoStringN(why.text.data, C.int(why.text.size)))
}
