// Command program allocates, grows stacks and recovers, which takes all tables of functions that Go has; then it panics.
package main

import (
	"fmt"
	"runtime"
	"strings"
)

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

func recovered(n int) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	var list []int
	return fmt.Sprint(list[n])
}

//go:noinline
func deep(n int) int {
	if n == 0 {
		panic("the end")
	}
	return deep(n-1) + 1
}

func main() {
	done := make(chan int)
	for i := range 20 {
		go func() {
			total := 0
			for n := build(500 + i); n != nil; n = n.next {
				total += len(n.text)
			}
			done <- total
		}()
	}
	total := 0
	for range 20 {
		total += <-done
	}
	runtime.GC()
	pc, _, line, _ := runtime.Caller(0)
	fmt.Println(total, recovered(3), runtime.FuncForPC(pc).Name(), line > 0)
	deep(3)
}
