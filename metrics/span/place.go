package span

import "ibid"

// Of is the place as a span under the given key. What lies beyond [ibid.MaxEnd]
// is cut off, but a span never becomes empty by that: a place that no text can
// have still costs precision.
func Of(p *ibid.Place, key int32) Span {
	return Span{Key: key, Start: int32(min(p.Start, ibid.MaxEnd-1)), End: int32(min(p.End, ibid.MaxEnd))}
}
