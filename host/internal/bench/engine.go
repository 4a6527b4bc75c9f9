package main

import (
	"context"
	"sync/atomic"

	"github.com/turncore/turncore/host"
)

// watched is an engine that counts the steps of its instances and knows the one that was opened last.
type watched struct {
	host.Engine
	steps atomic.Int64
	last  atomic.Pointer[watchedInstance]
}

type watchedInstance struct {
	host.Instance
	engine *watched
}

func (e *watched) Open(ctx context.Context) (host.Instance, error) {
	inst, err := e.Engine.Open(ctx)
	if err != nil {
		return nil, err
	}
	i := &watchedInstance{inst, e}
	e.last.Store(i)
	return i, nil
}

func (i *watchedInstance) Step(dst, in []byte) ([]byte, error) {
	i.engine.steps.Add(1)
	return i.Instance.Step(dst, in)
}
