// Package mutant is what the command mutate links into the code that it changes: each function stands for a change that
// is made while its number is the one in the environment variable TURNCORE_MUTANT, and for the code as it was
// otherwise. So all changes of a sample are compiled once. Nothing else imports it.
package mutant

import (
	"cmp"
	"os"
	"runtime/metrics"
	"strconv"
	"time"
)

// Variable names the environment variable with the number of the change that is made, from 1; none if it is empty.
const Variable = "TURNCORE_MUTANT"

// OutOfMemory is the exit status of a program whose change makes it take more than MaxMemory.
const OutOfMemory = 5

// MaxMemory is how many bytes a changed program may hold: some changes make loops that collect for ever.
const MaxMemory = 1 << 30

var chosen, _ = strconv.Atoi(os.Getenv(Variable))

func init() {
	if chosen != 0 {
		go watch()
	}
}

func watch() {
	held := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for {
		if metrics.Read(held); held[0].Value.Uint64() > MaxMemory {
			os.Exit(OutOfMemory)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// On tells whether the change is made.
func On(n int) bool { return n == chosen }

// Not is the condition, or its negation.
func Not(n int, condition bool) bool { return condition != On(n) }

// And is x && y, or x || y.
func And(n int, x bool, y func() bool) bool {
	if On(n) {
		return x || y()
	}
	return x && y()
}

// Or is x || y, or x && y.
func Or(n int, x bool, y func() bool) bool {
	if On(n) {
		return x && y()
	}
	return x || y()
}

// Less is x < y, or x <= y.
func Less[T cmp.Ordered](n int, x, y T) bool { return x < y || On(n) && x == y }

// LessOrEqual is x <= y, or x < y.
func LessOrEqual[T cmp.Ordered](n int, x, y T) bool { return x < y || !On(n) && x == y }

// Greater is x > y, or x >= y.
func Greater[T cmp.Ordered](n int, x, y T) bool { return x > y || On(n) && x == y }

// GreaterOrEqual is x >= y, or x > y.
func GreaterOrEqual[T cmp.Ordered](n int, x, y T) bool { return x > y || !On(n) && x == y }

// Number is what can be added and subtracted.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

// Sum is x + y, or x - y.
func Sum[T Number](n int, x, y T) T {
	if On(n) {
		return x - y
	}
	return x + y
}

// Difference is x - y, or x + y.
func Difference[T Number](n int, x, y T) T {
	if On(n) {
		return x + y
	}
	return x - y
}

// Next is x, or x + 1.
func Next[T Number](n int, x T) T {
	if On(n) {
		return x + 1
	}
	return x
}

// Previous is x, or x - 1.
func Previous[T Number](n int, x T) T {
	if On(n) {
		return x - 1
	}
	return x
}

// Zero is x, or the zero value.
func Zero[T any](n int, x T) T {
	if On(n) {
		var zero T
		return zero
	}
	return x
}
