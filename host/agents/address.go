package agents

import "net/netip"

// notPublic are the blocks of addresses that are not of the public internet, beside those that package netip knows.
var notPublic = blocks(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4", // of IPv4: this network, shared, protocols, documentation, relays, benchmarks, reserved
	"168.63.129.16/32",                                                                       // of IPv4, too: where Azure's machines reach their platform
	"::/96", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10", // of IPv6
)

// Blocks of IPv6 whose addresses hold one of IPv4, and the byte at which that begins.
var embedded = []struct {
	block netip.Prefix
	at    int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
}

func blocks(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// public reports whether an address is one of the public internet: not of this machine, of its networks or of a cloud's
// metadata, in whichever form of IPv6 it is written.
func public(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	if !address.IsValid() || address.IsUnspecified() || address.IsLoopback() || address.IsPrivate() || address.IsMulticast() ||
		address.IsLinkLocalUnicast() || address.IsLinkLocalMulticast() || address.IsInterfaceLocalMulticast() {
		return false
	}
	for _, e := range embedded {
		if e.block.Contains(address) {
			bytes := address.As16()
			return public(netip.AddrFrom4([4]byte(bytes[e.at : e.at+4])))
		}
	}
	for _, block := range notPublic {
		if block.Contains(address) {
			return false
		}
	}
	return true
}
