// Command program does a little of everything that a compiler has to translate, and prints what came out. It is compiled
// for WebAssembly and has to print the same after the rewrite.
package main

import (
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"math"
	"os"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

type shape interface {
	area() float64
	name() string
}

type rect struct{ w, h float64 }

type circle struct {
	r     float64
	label string
	extra [9]int64
}

func (r rect) area() float64    { return r.w * r.h }
func (r rect) name() string     { return "rect" }
func (c *circle) area() float64 { return math.Pi * c.r * c.r }
func (c *circle) name() string  { return c.label + strconv.Itoa(int(c.extra[8])) }

type node struct {
	left, right *node
	key         uint32
	value       string
}

func (n *node) insert(key uint32, value string) *node {
	switch {
	case n == nil:
		return &node{key: key, value: value}
	case key < n.key:
		n.left = n.left.insert(key, value)
	case key > n.key:
		n.right = n.right.insert(key, value)
	default:
		n.value += value
	}
	return n
}

func (n *node) walk(yield func(uint32, string) bool) bool {
	return n == nil || n.left.walk(yield) && yield(n.key, n.value) && n.right.walk(yield)
}

//go:noinline
func deep(n int, pad [32]int) int {
	if n == 0 {
		runtime.GC() // the stack is large and then mostly empty: it shrinks later
		return pad[3]
	}
	pad[n%32] += n
	return deep(n-1, pad) + pad[(n+7)%32]
}

func labels(limit int) (sum int) {
outer:
	for i := range limit {
		for j := 0; ; j++ {
			switch {
			case j > i:
				continue outer
			case i*j > 900:
				break outer
			case (i^j)%7 == 3:
				continue
			}
			sum += i*j ^ sum<<1&0xfff
		}
	}
	return sum
}

func spell(n int) string {
	switch n % 12 {
	case 0:
		return "zero"
	case 1, 2, 3:
		return "few"
	case 5:
		return "five"
	case 7:
		return "seven"
	case 8, 9:
		return "many"
	case 11:
		return "eleven"
	}
	return "some"
}

func failing(n int) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("recovered %v: %w", cause, os.ErrInvalid)
		}
	}()
	for i := range n {
		defer func() { n += i }()
	}
	var list []int
	var none *node
	switch n {
	case 1:
		return errors.New("one" + strconv.Itoa(list[n]))
	case 2:
		return errors.New(none.value)
	case 3:
		panic(fmt.Sprint("three ", n))
	case 4:
		return errors.New(shape(nil).name())
	}
	return nil
}

func numbers(limit int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 2; i < limit; i++ {
			if !yield(i * i) {
				return
			}
		}
	}
}

func main() {
	var out strings.Builder
	shapes := []shape{rect{2, 3.5}, &circle{r: 2, label: "c", extra: [9]int64{8: 42}}, rect{h: 1, w: -1}}
	slices.SortFunc(shapes, func(a, b shape) int { return int(math.Copysign(1, a.area()-b.area())) })
	for _, s := range shapes {
		fmt.Fprintf(&out, "%s %.6f\n", s.name(), s.area())
	}

	var tree *node
	seed := uint32(12345)
	counts := map[string]int{}
	for i := range 3000 {
		seed = seed*1664525 + 1013904223
		tree = tree.insert(seed>>20, spell(i))
		counts[spell(int(seed>>8))]++
		counts[strconv.Itoa(i%50)] += i
	}
	sum := crc32.NewIEEE()
	tree.walk(func(key uint32, value string) bool {
		fmt.Fprint(sum, key, value)
		return key < 4000
	})
	keys := make([]string, 0, len(counts))
	for key, n := range counts {
		keys = append(keys, key+"="+strconv.Itoa(n))
	}
	sort.Strings(keys)
	fmt.Fprintln(&out, sum.Sum32(), strings.Join(keys, " "))

	fmt.Fprintln(&out, labels(60), deep(4000, [32]int{3: 5}))
	for i := range 60 {
		var wide [2048]byte
		for j := range wide {
			wide[j] = byte(i * j)
		}
		runtime.GC()
		fmt.Fprint(&out, deep(i*20, [32]int{i}), " ", crc32.ChecksumIEEE(wide[:]), " ")
	}
	for i := range 6 {
		fmt.Fprintln(&out, i, failing(i))
	}

	next, stop := iter.Pull(numbers(1000))
	for range 5 {
		n, ok := next()
		fmt.Fprint(&out, n, ok, " ")
	}
	stop()

	work, done := make(chan int), make(chan [2]int, 8)
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			total := [2]int{}
			for n := range work {
				total[0] += n
				total[1] += deep(n%300, [32]int{w, n})
				runtime.Gosched()
			}
			done <- total
		})
	}
	for i := range 500 {
		work <- i
	}
	close(work)
	group.Wait()
	total := [2]int{}
	for range 4 {
		t := <-done
		total[0] += t[0]
		total[1] += t[1]
	}
	select {
	case <-done:
		fmt.Fprintln(&out, "too many")
	case <-time.After(time.Millisecond):
		fmt.Fprintln(&out, total[0], total[1] != 0)
	}
	vast := new([32 << 20]byte)
	vast[1<<20] = 7
	fmt.Fprintln(&out, wide(vast))
	floats := []float64{0, -0.5, 1e300, math.Inf(1), math.NaN(), 3}
	for _, f := range floats {
		fmt.Fprint(&out, float32(f), math.Sqrt(f), " ")
	}
	fmt.Println(out.String())
}

// byValue takes so much on the stack that the caller's frame is larger than the address that the stack begins at.
//
//go:noinline
func byValue(b [32 << 20]byte, n int) byte { return b[n] }

//go:noinline
func wide(b *[32 << 20]byte) int {
	return int(byValue(*b, 1<<20)) + int(byValue(*b, 1))
}
