package file

//go:generate go tool -modfile=../../../.ci/tools/go.mod msgp -file form.go -o form_msgp.go -tests=false -io=false -unexported
//go:generate go tool -modfile=../../../.ci/tools/go.mod gofumpt -w form_msgp.go

// version of the folder's form that is written. One of a later version is refused.
const version = 1

// The frames of a log, by their first byte. A head begins the log. All others begin with a summary.
const (
	frameHead     byte = 'h'
	frameCommit   byte = 'c'
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

// snapshot is all of a session.
//
//msgp:tuple snapshot
type snapshot struct {
	Settled uint64
	Keys    []key
	Tables  [][]row
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
