package convert

// names is a set of names, such as those of an object's members: a few are
// compared one by one without allocating, many are hashed.
type names struct {
	few  [16]string
	n    int // of few
	many map[string]struct{}
}

// add reports whether name is new.
func (n *names) add(name string) bool {
	for _, s := range n.few[:n.n] {
		if s == name {
			return false
		}
	}
	if n.n < len(n.few) {
		n.few[n.n] = name
		n.n++
		return true
	}
	if _, seen := n.many[name]; seen {
		return false
	}
	if n.many == nil {
		n.many = map[string]struct{}{}
	}
	n.many[name] = struct{}{}
	return true
}

// columnNames are the names that members of our records have, by themselves:
// looking one up turns bytes into a string without allocating it.
var columnNames = func() map[string]string {
	all := map[string]string{}
	for _, s := range []string{
		"id", "query", "answer", "system", "provider", "model",
		"citations", "truth", "claims", "labels", "documents", "messages", "tags",
		"doc", "page", "start", "end", "unit", "cited_text", "title", "answer_start", "answer_end",
		"citation_id", "claim_id", "source_type", "method", "confidence", "relevance",
		"token_contribution", "source_reference", "annotator", "text", "kind", "value",
		"pages", "blocks", "role", "content", "metadata",
	} {
		all[s] = s
	}
	for theirs := range aliases {
		all[theirs] = theirs
	}
	return all
}()
