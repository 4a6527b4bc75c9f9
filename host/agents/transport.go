package agents

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/turncore/turncore/host"
)

// transport sends an agent's requests. It uses no proxy, which would resolve names itself, and checks the address of
// each connection after the name was resolved and before anything is sent: a name that changes its address gains
// nothing. A nil resolver is the default one.
func transport(private bool, resolver *net.Resolver) *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second, Resolver: resolver}
	if !private {
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error { return dialable(address) }
	}
	return &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		MaxIdleConns: 32, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// dialable checks a resolved address.
func dialable(address string) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !public(a.Addr()) {
		return host.NewError(host.CodeHTTPNotAllowed, fmt.Sprintf("the address %s is private", address), nil)
	}
	return nil
}
