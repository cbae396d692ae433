package span

import "ibid"

// Of is a part of a place, which begins below [ibid.MaxEnd], as a span under the given
// key. What lies beyond is cut off.
func Of(part ibid.Stretch, key int32) Span {
	return Span{Key: key, Start: int32(part.Start), End: int32(min(part.End, ibid.MaxEnd))}
}
