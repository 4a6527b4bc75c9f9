// Package file keeps conversations in a folder, without a database: a log for each session, and a file for each of its
// bytes.
//
//	s, err := file.Open("conversations")
//	if err != nil { … }
//	defer s.Close()
//	runner, err := turns.New(ctx, turns.Config{Store: s, …})
//
// It is for programs of one process, which has the folder for itself, and some ten thousand sessions. What Commit has
// returned is on the disk.
package file
