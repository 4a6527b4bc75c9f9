// Command mute is no agent: it does without Turncore.
package main

func main() {}
