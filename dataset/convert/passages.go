package convert

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/metrics/claims"
)

// passageHead begins a passage of a text that holds several: [1], Source 2: or Document [3].
var passageHead = regexp.MustCompile(`(?mi)^[ \t]*(?:\[(\d{1,3})\](:?)|(?:source|document|doc|passage|chunk|context|result) ?\[?#?(\d{1,3})\]?(:))[ \t]*`)

// numberedPassages are the passages of a text that has their numbers at the beginnings of lines,
// one after the other from 0 or 1: two or more, or none. A number alone on its line has a colon.
func numberedPassages(text string) (all []ibid.Document) {
	heads := passageHead.FindAllStringSubmatchIndex(text, -1)
	if len(heads) < 2 || strings.TrimSpace(text[:heads[0][0]]) != "" {
		return nil
	}
	for i, h := range heads {
		number, colon, end := h[2:4], h[5] > h[4], len(text)
		if h[2] < 0 {
			number, colon = h[6:8], true
		}
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		n, _ := strconv.Atoi(text[number[0]:number[1]])
		line, _, _ := strings.Cut(text[h[1]:end], "\n")
		passage := strings.TrimSpace(text[h[1]:end])
		if i == 0 && n > 1 || i > 0 && all[i-1].Doc != strconv.Itoa(n-1) || passage == "" || !colon && strings.TrimSpace(line) == "" {
			return nil
		}
		all = append(all, ibid.Document{Doc: strconv.Itoa(n), Text: passage, HasText: true})
	}
	return all
}

// hasPlaces reports whether a row has offsets or pages, in some document or in one of these names.
func hasPlaces(row *ibid.Answer, names map[string]bool) bool {
	in := func(doc string, start, page ibid.Integer) bool {
		return (names == nil || names[doc]) && (start.Known() || page.Known())
	}
	return slices.ContainsFunc(row.Citations, func(c ibid.Citation) bool { return in(c.Doc, c.Start, c.Page) }) ||
		slices.ContainsFunc(row.Truth, func(m ibid.Mark) bool { return in(m.Doc, m.Start, m.Page) })
}

// tellApart makes documents of one name and different texts, such as chunks of one file, documents
// that a row can have. Where it cites by numbers only, they are called NAME, NAME#2 and so on. Where
// it cites them by name, they are one document of their texts. Where it does both, or has places in
// them, nobody can tell what is meant: they stay as they are, and the row is an error.
func tellApart(row *ibid.Answer, named []string, first int) {
	texts, alike := make(map[string]string), make(map[string]bool)
	for i := range row.Documents {
		d := &row.Documents[i]
		if before, twice := texts[d.Doc]; twice && before != d.Text {
			alike[d.Doc] = true
		}
		if texts[d.Doc] = d.Text; d.HasPages || d.HasBlocks {
			return
		}
	}
	if len(alike) == 0 || hasPlaces(row, alike) {
		return
	}
	byName := slices.ContainsFunc(named, func(name string) bool { return alike[name] }) ||
		slices.ContainsFunc(row.Citations, func(c ibid.Citation) bool { return alike[c.Doc] })
	byNumber := false
	if !row.HasCitations {
		var cited []claims.Cited
		for i := range row.Documents {
			if d := &row.Documents[i]; !slices.ContainsFunc(cited, func(c claims.Cited) bool { return c.Doc == d.Doc }) {
				cited = append(cited, claims.Cited{Doc: d.Doc, Title: d.Title})
			}
		}
		marks, _ := claims.ReadMarks(row.Answer, cited, first)
		for _, m := range marks {
			byNumber = byNumber || m.Number >= 0 && !m.Listed
			byName = byName || (m.Number < 0 || m.Listed) && m.Source >= 0 && alike[cited[m.Source].Doc]
		}
	}
	switch {
	case byName && byNumber:
	case byName:
		row.Documents = joined(row.Documents, alike)
	default:
		var names documentNames
		for i := range row.Documents { // whose names are free for no other
			d := &row.Documents[i]
			if !alike[d.Doc] {
				names.of(d.Doc, d.Text, d.HasText)
			}
		}
		for i := range row.Documents {
			d := &row.Documents[i]
			d.Doc, _ = names.of(d.Doc, d.Text, d.HasText)
		}
	}
}

// joined are documents of which those of one name are one, with their texts in their order.
func joined(documents []ibid.Document, alike map[string]bool) (all []ibid.Document) {
	at, parts := make(map[string]int), make(map[string][]string)
	for _, d := range documents {
		i, before := at[d.Doc]
		if !before {
			at[d.Doc], all = len(all), append(all, d)
			i = len(all) - 1
		} else if !alike[d.Doc] {
			all = append(all, d)
			continue
		}
		if !slices.Contains(parts[d.Doc], d.Text) {
			parts[d.Doc] = append(parts[d.Doc], d.Text)
		}
		all[i].Text = strings.Join(parts[d.Doc], "\n")
		all[i].HasText = all[i].HasText || d.HasText
	}
	return all
}
