// Command reactor has state from its start: filled maps, times, what the environment said. Its function work uses all of
// it, and what a start leaves to the runtime: the heap, goroutines and their stacks.
package main

import (
	crypto "crypto/rand"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// fault is what the start does wrong; the linker sets it.
var fault string

var (
	began    = time.Now()
	greeting = os.Getenv("GREETING")
	words    = map[string]int{}
	lists    = map[int][]string{}
	worked   int
	channel  = make(chan int, 3)
)

func init() {
	for i := range 1000 {
		text := fmt.Sprint("word ", i)
		words[text] = i
		lists[i%10] = append(lists[i%10], text)
	}
	channel <- 7
	switch fault {
	case "panic":
		panic("at the start")
	case "write":
		fmt.Println("hello")
	case "random":
		crypto.Read(make([]byte, 16))
	case "sleep":
		time.Sleep(time.Second)
	case "loop":
		for {
			worked++
		}
	}
}

type node struct {
	next *node
	text string
}

//go:noinline
func build(n int) *node {
	if n == 0 {
		return nil
	}
	runtime.Gosched()
	return &node{build(n - 1), strings.Repeat("x", n%17)}
}

//go:wasmexport work
func work() {
	worked++
	if worked == 3 {
		debug.SetGCPercent(1)
	}
	done := make(chan int)
	for i := range 10 {
		go func() {
			total := 0
			for n := build(300 + i); n != nil; n = n.next {
				total += len(n.text)
			}
			done <- total
		}()
	}
	total := 0
	for range 10 {
		total += <-done
	}
	sum := 0
	for i, list := range lists {
		for _, text := range list {
			if words[text]%10 != i {
				panic(text)
			}
			sum += words[text]
		}
	}
	delete(words, fmt.Sprint("word ", worked))
	words[fmt.Sprint("more ", worked)] = worked
	lists[worked%10] = slices.Delete(lists[worked%10], worked/10, worked/10+1)
	runtime.GC()
	channel <- <-channel + 1
	fmt.Printf("%d: %d %d %d %d %q\n", worked, total, sum, len(words), len(channel), greeting)
	fmt.Printf("%v %v\n", began.Unix() <= time.Now().Unix(), time.Since(began) >= 0)
}

func main() {}
