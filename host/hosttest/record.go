package hosttest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/journal"
)

// RecordTo is the name of an environment variable with a folder. If the variable is set, [Engines] returns engines of
// [Record]: everything that a test suite does with them can be replayed afterwards, on any engine.
const RecordTo = "TURNCORE_RECORD_TO"

// MaxRecording is the number of recorded bytes of an instance's conversation. Later bytes are not recorded, so that a
// test of a hundred thousand turns does not fill a disk.
const MaxRecording = 4 << 20

var recordings atomic.Uint32

// Record returns an engine that runs on e and writes each instance's whole conversation as a journal into a folder. A
// step that fails ends the journal before it.
func Record(e host.Engine, folder string) host.Engine { return recordingEngine{e, folder} }

type recordingEngine struct {
	host.Engine
	folder string
}

// Open implements host.Engine.
func (e recordingEngine) Open(ctx context.Context) (host.Instance, error) {
	inst, err := e.Engine.Open(ctx)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%d-%d.journal", e.Name(), os.Getpid(), recordings.Add(1))
	f, err := os.OpenFile(filepath.Join(e.folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err == nil {
		r := &recordingInstance{Instance: inst, file: f}
		r.log, err = journal.NewWriter(f, journal.Header{
			ABI: abi.Version, Features: abi.FeatureChat | abi.FeatureHistory | abi.FeatureTimers | abi.FeatureDigest,
			Module: e.ModuleHash(), Engine: e.Name(),
		})
		if err == nil {
			return r, nil
		}
		_ = f.Close() // err says why
	}
	_ = inst.Close(ctx) // likewise
	return nil, fmt.Errorf("hosttest: record: %w", err)
}

type recordingInstance struct {
	host.Instance
	file *os.File

	mu   sync.Mutex // keeps entries in the order of steps
	log  *journal.Writer
	size int
}

// Step implements host.Instance.
func (i *recordingInstance) Step(dst, in []byte) ([]byte, error) {
	kept := append([]byte(nil), in...)
	i.mu.Lock()
	defer i.mu.Unlock()
	out, err := i.Instance.Step(dst, in)
	if err != nil || i.size > MaxRecording {
		return out, err
	}
	answer := out[len(dst):]
	i.size += len(kept) + len(answer)
	if err := i.log.Write(journal.Entry{In: kept, Out: answer}); err != nil {
		return out, i.Instance.Retire(fmt.Errorf("hosttest: record: %w", err))
	}
	return out, nil
}

// Close implements host.Instance.
func (i *recordingInstance) Close(ctx context.Context) error {
	_ = i.file.Close() // a journal that is cut off shows when it is replayed
	return i.Instance.Close(ctx)
}
