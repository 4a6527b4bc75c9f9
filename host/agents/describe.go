package agents

import (
	"context"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
)

// Describe compiles an agent's module, starts it and asks it what it is. The answer is JSON text: the members of a
// manifest without "turncore" and "imports", which a module does not know. It is nil for any module but an agent's,
// such as the core. The file needs no manifest.
func Describe(ctx context.Context, file []byte, options ModuleOptions) (said []byte, err error) {
	e, err := options.start(ctx, file)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := e.Close(ctx); err == nil {
			err = closed
		}
	}()
	return describe(ctx, e)
}

// describe asks an instance of its own what the module is.
func describe(ctx context.Context, e host.Engine) (said []byte, err error) {
	in, err := e.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := in.Close(ctx); err == nil {
			err = closed
		}
	}()
	g, err := host.Greet(in, abi.Hello{Features: abi.FeatureAgent})
	if err != nil || g.Features&abi.FeatureAgent == 0 {
		return nil, err
	}
	const call = 1
	out, err := in.Step(nil, abi.Append(nil, &abi.Call{Call: call, Method: abi.MethodDescribe}))
	if err != nil {
		return nil, err
	}
	op, frame, rest, err := abi.Next(out, g.Limits)
	if err == nil && op == abi.OpReply && len(rest) == 0 {
		var reply abi.Reply
		if reply, err = abi.Decode[abi.Reply](frame); err == nil && reply.Call == call && reply.Error == nil {
			said, _ = value.String(reply.Value)
		}
	}
	if err != nil || said == nil {
		return nil, host.NewError(host.CodeAgentManifest, "the module does not say what it is", err)
	}
	return said, nil
}

// hold checks a manifest against what the module says of itself. A module that says nothing brings nothing.
func (m *Manifest) hold(said []byte) error {
	if said != nil {
		return m.Differs(said)
	}
	if m.Executor || len(m.Tools) > 0 || len(m.Middleware) > 0 || m.Options != nil {
		return manifestDocument.wrong("the module is no agent: it brings none of what the manifest lists")
	}
	return nil
}
