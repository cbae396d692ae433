package fetch

import (
	"fmt"
	"net/netip"
)

// notPublic are networks that no public page is in, besides those that netip
// tells: private, loopback, link-local, multicast.
//
// Source: the IANA registries of special-purpose addresses of IPv4 and IPv6.
var notPublic = func() []netip.Prefix {
	var all []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}()

// embedding are networks of IPv6 whose addresses hold one of IPv4, and the byte at
// which it begins.
var embedding = []struct {
	netip.Prefix
	at int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
}

// checkPublic refuses addresses that are not on the public internet: those of this
// machine, its network, and the services that tell machines of a cloud their
// secrets.
func checkPublic(a netip.Addr) error {
	a = a.Unmap().WithZone("")
	for _, e := range embedding {
		if e.Contains(a) {
			b := a.As16()
			return checkPublic(netip.AddrFrom4([4]byte(b[e.at : e.at+4])))
		}
	}
	public := a.IsGlobalUnicast() && !a.IsPrivate()
	for _, p := range notPublic {
		public = public && !p.Contains(a)
	}
	if !public {
		return fmt.Errorf("%v is no public address", a)
	}
	return nil
}
