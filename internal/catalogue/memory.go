package catalogue

import (
	"sort"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// remember stores a memory, with the writes of the iteration, and answers its id.
func remember(_ runtime.Task, d *runtime.Dispatch, args []byte) ([]byte, error) {
	t := d.Turn()
	id := t.NewID("memory")
	at := t.Stamp()
	err := d.StoreBody(record.Memories, record.AppendMemory(nil, record.MemoryFields{
		ID: id, Content: []byte(runtime.TextArgument(args, "content")), Confidence: 1, Importance: number(args, "importance", 0.5), CreatedAt: at, UpdatedAt: at,
	}))
	if err != nil {
		return nil, err
	}
	return value.AppendString(value.AppendString(value.AppendMapHeader(nil, 1), "id"), id), nil
}

// recall lists memories in which all words occur, the most important first and of equal ones the newest.
func recall(_ runtime.Task, d *runtime.Dispatch, args []byte) ([]byte, error) {
	q := queryOf(args)
	var found []record.Memory
	d.Records(record.Memories, func(_ int64, body []byte) bool {
		if q.matches(record.Memory(body).Content()) {
			found = append(found, body)
		}
		return true
	})
	sort.SliceStable(found, func(i, j int) bool {
		if x, y := found[i].Importance(), found[j].Importance(); x != y {
			return x > y
		}
		return found[i].CreatedAt() > found[j].CreatedAt()
	})
	found = found[:min(len(found), q.limit)]
	list := value.AppendListHeader(nil, len(found))
	for _, m := range found {
		list = value.AppendText(value.AppendString(value.AppendMapHeader(list, 2), "id"), m.ID())
		list = value.AppendText(value.AppendString(list, "content"), m.Content())
	}
	return list, nil
}

// forget deletes a memory, with the writes of the iteration.
func forget(_ runtime.Task, d *runtime.Dispatch, args []byte) ([]byte, error) {
	id := runtime.TextArgument(args, "id")
	there := false
	d.Records(record.Memories, func(_ int64, body []byte) bool {
		there = string(record.Memory(body).ID()) == id
		return !there
	})
	if !there {
		return nil, fault.Plain("there is no memory with the id " + id)
	}
	if err := d.Delete(record.Memories, id); err != nil {
		return nil, err
	}
	return value.AppendString(nil, "forgotten"), nil
}
