package span

// A Level is the finest unit in which the bounds of a [Place] are known.
type Level uint8

const (
	Characters Level = iota // Start and End are code points
	Pages                   // only whole pages are known: FirstPage and LastPage
	Document                // only the document is known
	Nowhere                 // not even a document is named
)

// A Place is where a citation or an annotation points after its units have been
// resolved: a document, the pages it touches and, at level [Characters], the
// half-open interval [Start, End) of code points within the key (Doc, Page).
type Place struct {
	Doc  string // compared byte for byte
	Page int32  // part of the key: 0 when offsets count from the start of the document, else the page they count from

	Level      Level
	Status     Status
	Start, End int64 // code points; as given even if Status says they make no span

	FirstPage, LastPage int32 // pages touched, 1-based and inclusive; 0, 0 when no page is known
}

// InSets reports whether the place belongs to the span sets T and P of its row:
// its code points are known and make a span.
func (p *Place) InSets() bool {
	return p.Level == Characters && p.Status.Usable()
}

// Span is the place as a span under the given key. What lies beyond [MaxEnd] is
// cut off, but a span never becomes empty by that: a place that no text can have
// still costs precision.
func (p *Place) Span(key int32) Span {
	return Span{Key: key, Start: int32(min(p.Start, MaxEnd-1)), End: int32(min(p.End, MaxEnd))}
}
