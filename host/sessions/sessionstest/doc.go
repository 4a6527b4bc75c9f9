// Package sessionstest tests that sessions of package sessions hold on a store: what a service does with them, and what
// becomes of them when the store fails or a process is killed. A store that passes package storetest passes this, too;
// what may differ is what the two expect of each other.
package sessionstest
