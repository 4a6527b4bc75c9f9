package file

//go:generate go tool -modfile=../../../.ci/tools/go.mod msgp -file form.go -o form_msgp.go -tests=false -io=false -unexported
//go:generate go tool -modfile=../../../.ci/tools/go.mod gofumpt -w form_msgp.go

// formVersion is that of the folder's form that is written. One of a later version is refused.
const formVersion = 1

// The frames of a session's log, by their first byte. A head begins the log. All others begin with a summary.
const (
	frameHead     byte = 'h'
	frameCommit   byte = 'c'
	frameAppend   byte = 'a'
	frameTitle    byte = 't'
	frameSnapshot byte = 's' // all of the session: the log was written anew, or the session is a fork
)

// head says whose log it is.
//
//msgp:tuple head
type head struct {
	Version  uint8
	ID       string
	Created  int64  // ms
	Began    uint64 // as ledger.Session has it
	Revision uint64 // the session's first
}

// summary is what a list of sessions shows of the session after the frame.
//
//msgp:tuple summary
type summary struct {
	Title    string
	Revision uint64
	Updated  int64  // ms
	Newest   *int64 // ms; nil for none
	Messages int
}

// commit is a commit's writes. Its revision is that of the summary.
//
//msgp:tuple commit
type commit struct {
	Key, Turn string
	Ended     []string
	Writes    []write
}

// write replaces records by others.
//
//msgp:tuple write
type write struct {
	Kind uint8
	Old  []string
	New  []named
}

// named is a record that is written.
//
//msgp:tuple named
type named struct {
	ID     string
	Stored stored
}

// stored is a record in its stored form.
//
//msgp:tuple stored
type stored struct {
	Sum   uint32 // see store.Sum
	Bytes []string
	Body  []byte
}

// appended is what an append adds to a session. If it makes a revision, that is the summary's.
//
//msgp:tuple appended
type appended struct {
	Key, Turn string
	Ended     []string
	Events    []event // at most one
	Own       changes
}

// event is an event of a session.
//
//msgp:tuple event
type event struct {
	ID       string
	Body     []byte
	Revision uint64
}

// changes are those of scopes, in order.
//
//msgp:tuple changes
type changes struct {
	Values   []value
	Versions []version
}

// value is a value of a scope: "" for that of the session.
//
//msgp:tuple value
type value struct {
	Scope, Name string
	Value       []byte
	Gone        bool // it is deleted
}

// version is the next version of an artifact.
//
//msgp:tuple version
type version struct {
	Scope, Name string
	Size        int64
	Body        []byte
}

// snapshot is all of a session.
//
//msgp:tuple snapshot
type snapshot struct {
	Settled  uint64
	Keys     []key
	Tables   [][]row
	Appended uint64
	Events   []event
	Own      changes
}

// key is the key of a commit.
//
//msgp:tuple key
type key struct {
	Key, Turn string
	Revision  uint64
}

// row is a record and the revisions that added it and wrote it last.
//
//msgp:tuple row
type row struct {
	ID             string
	Added, Changed uint64
	Stored         stored
}

// The frames of the log of shared scopes.
const (
	frameShared    byte = 'a' // changes of an append
	frameConfirmed byte = 'k' // the changes before have been appended: no others confirm it
	frameAll       byte = 's' // all there is: the log was written anew
)

// shared are the changes that an append makes to shared scopes. They count if the session's log has the append: those
// of the last frame alone may lack it, as the next one is written later.
//
//msgp:tuple shared
type shared struct {
	Session  string
	Revision uint64
	Changes  changes
}

// The frames of a journal.
const (
	frameTurn       byte = 'h' // begins it
	frameEntries    byte = 'j'
	frameCheckpoint byte = 's' // what was compacted, with the entries behind it
)

// turn says whose journal it is.
//
//msgp:tuple turn
type turn struct {
	Version uint8
	ID      string
}

// entries are those of an append.
//
//msgp:tuple entries
type entries struct {
	Epoch, At int64
	Entries   [][]byte
}

// checkpoint stands for the entries before First.
//
//msgp:tuple checkpoint
type checkpoint struct {
	Epoch, First int64
	Checkpoint   []byte
	Entries      [][]byte
}
