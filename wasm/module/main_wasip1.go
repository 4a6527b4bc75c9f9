package main

// main never runs: the module is a reactor.
func main() {}
