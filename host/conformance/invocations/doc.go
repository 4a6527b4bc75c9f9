// Package invocations runs the corpus of invocations: scenarios in JSON that describe agents, their models and tools,
// and what callers do, and the required result. The corpus lies in runtime/testdata/invocations of the repository; its
// README describes the format. A host of Turncore in any language that plays a scenario writes the same lines, byte for
// byte.
//
//	files, err := invocations.Load(os.DirFS("runtime/testdata/invocations"))
//	…
//	player := invocations.NewPlayer(invocations.Options{Engine: engine})
//	defer player.Close()
//	for _, file := range files {
//		for _, scenario := range file.Scenarios {
//			log, err := player.Play(scenario)
//			…
//			err = scenario.Check(log)
//		}
//	}
package invocations
