// Package storetest is a suite of tests for implementations of [store.Store].
//
//	func TestStore(t *testing.T) {
//		storetest.Test(t, storetest.Suite{Place: func(t *testing.T) storetest.Opener {
//			path := filepath.Join(t.TempDir(), "conversations.db")
//			return func() (store.Store, error) { return mystore.Open(path) }
//		}})
//	}
//
// A store that has the methods of [store.Sessions], [store.Newest], [store.Appender] or [store.Journal] is tested for
// them too.
package storetest
