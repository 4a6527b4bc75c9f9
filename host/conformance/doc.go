// Package conformance runs the conformance corpus: scenarios in JSON that describe a program's functions in a turn
// and the required result. The corpus lies in runtime/testdata/conformance of the repository; its README describes
// the format. A host of Turncore in any language that plays a scenario writes the same lines, byte for byte.
//
//	files, err := conformance.Load(os.DirFS("runtime/testdata/conformance"))
//	…
//	player := conformance.NewPlayer(conformance.Options{Engine: engine})
//	defer player.Close()
//	for _, file := range files {
//		for _, scenario := range file.Scenarios {
//			log, err := player.Play(scenario)
//			…
//			err = scenario.Check(log)
//		}
//	}
package conformance
