package main

// main keeps the program alive, so that its exports can be called.
func main() { select {} }
