// Package file keeps conversations in a folder, without a database: a log for each session and for each turn's journal,
// a file for each of a session's bytes, and a log of the scopes that sessions share.
//
//	s, err := file.Open("conversations")
//	if err != nil { … }
//	defer s.Close()
//	runner, err := turns.New(ctx, turns.Config{Store: s, …})
//
// It is for programs of one process, which has the folder for itself, and some ten thousand sessions. What a call that
// writes has returned is on the disk.
//
// A session is read into memory whole, with its events, when it is used, and the shared scopes when the folder is
// opened. A fork copies the session's log: it costs as much time and space as the session has records and events. It
// shares the files of bytes and artifacts, where the file system has links.
package file
