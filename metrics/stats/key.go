package stats

// mix is the finalizer of SplitMix64, a bijection that spreads every bit over all
// others; variant 13 of Stafford 2011.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Key is a hash of the name of a unit (an id, a document), the same in every
// process and on every machine, so that what is drawn for a unit depends on its
// name and not on its place. It is FNV-1a, mixed. Two of a million names meet
// with a chance below 3e-8. Several parts are one name, without anything between them.
func Key(parts ...string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, part := range parts {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * 0x100000001b3
		}
	}
	return mix(h)
}
