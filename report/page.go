package report

import (
	"bufio"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"regexp"
	"strings"

	"ibid"
	"ibid/annotations/compare"
	"ibid/annotations/history"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

// maxPageBytes is the size above which a page holds only some of the rows.
const maxPageBytes = 25_000_000

// RunData is one finished run that a page shows.
type RunData struct {
	Dir      string // the run directory, for its result files
	Manifest *runs.Manifest
	Summary  []runs.SummaryRow // as far as pages show it, see [RunData.ReadSummary]
	Gates    []runs.GateResult
	Texts    Texts    // nil if they are not at hand
	NoTexts  string   // why they are not
	Display  *Display // nil means what is shown by default
	Parts    Parts

	moreSlices map[string]int // slices by key that are not in Summary
}

// display is what the rows of the run show of their citations.
func (d *RunData) display() Display {
	if d.Display == nil {
		return defaultDisplay
	}
	return *d.Display
}

// Texts yields what a run read: the rows at the positions of the input that wants is
// true of (nil: of all), in the order of the input, their places resolved, and a
// function that returns the text of a key. Both are valid until yield returns.
// Documents that are named only in further must be at hand, too.
type Texts interface {
	Each(ctx context.Context, further []string, wants func(pos int64) bool, yield func(row *ibid.Answer, text func(doc string, page int32) (string, bool)) error) error
}

// PageOptions say how a page is made. The zero value is ready.
type PageOptions struct {
	MaxBytes int    // about the size of the file; 0 means 25 MB
	Version  string // of the program, for the foot of the page
	maxRows  int    // that it lists; 0 means 60,000

	Comparison  *compare.Result // of the runs, or of the systems of the one run; nil if there is none
	Since       *compare.Result // the change of the numbers that lead, system by system: of one run since an earlier one, of several since the first; nil if there is none
	NotCompared string          // why there is none, where somebody may expect one

	Past *history.Past // of the one run; nil if there is none

	Links []Link // to other pages, where there are some
}

// A Link leads from a page to another of the same site.
type Link struct{ To, Text string }

// A section is one part of the page under a heading of its own.
type section struct {
	ID   string // of its element in links, and the name of its template
	Name string // in the navigation
	View any    // what the template shows, or the blocks of the section
}

// docSection is a section that is made of blocks.
func docSection(id, title string, blocks []doc.Block) *section {
	return &section{id, title, doc.Section{ID: id, Title: title, Blocks: blocks}}
}

// sections makes the parts of a page, in their order. A section is a function of
// the data; it returns nil if it has nothing to show.
var sections = []func(*pageData) *section{
	verdictSection, changesSection, metricsSection, systemsSection, compareSection, agreementSection, judgeSection, whySection,
	rowsSection, historySection, methodSection, provenanceSection,
}

// A page is the view model of the HTML report: every number and string of it.
type page struct {
	Title    string
	Version  string
	Links    []Link
	Served   bool // the rows are those that the address asks for
	Sections []*section
	packs    []pack // what the script of the page opens
}

// WritePage writes the page of one run, or of several side by side, as one HTML
// file that loads nothing. Systems of several runs are named RUN/SYSTEM.
func WritePage(ctx context.Context, w io.Writer, o PageOptions, runs ...RunData) error {
	p, err := newPage(ctx, o, runs...)
	if err != nil {
		return err
	}
	return p.write(w)
}

func newPage(ctx context.Context, o PageOptions, runs ...RunData) (*page, error) {
	data, err := readPageData(ctx, o, runs)
	if err != nil {
		return nil, err
	}
	p := &page{Version: o.Version, Links: o.Links, packs: data.packs}
	for k, r := range data.results {
		if k > 0 {
			p.Title += ", "
		}
		p.Title += line(r.run.Manifest.ID, 80)
	}
	for _, section := range sections {
		if s := section(data); s != nil {
			p.Sections = append(p.Sections, s)
		}
	}
	return p, nil
}

var (
	//go:embed assets/page/*.html
	pageFiles embed.FS
	//go:embed assets/page.css
	pageStyle string
	//go:embed assets/page.js
	pageScript string

	pageTemplates = parseTemplates()
)

// PageStyle is the stylesheet of the page. Other pages of ibid begin with it.
func PageStyle() string { return pageStyle }

// lineBreak is a line break with the white space around it.
var lineBreak = regexp.MustCompile(`\s*\n\s*`)

// parseTemplates reads the templates of the page, a file for each section. Their
// line breaks lay out the file, not the page: lines are joined without a space.
// Where a space has to stand between two elements, {{" "}} says so.
func parseTemplates() *template.Template {
	all := template.New("page").Funcs(template.FuncMap{
		"tone": tone.sign,
	})
	files, _ := fs.Glob(pageFiles, "assets/page/*.html") // only a wrong pattern is an error
	for _, name := range files {
		text, err := pageFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		template.Must(all.Parse(lineBreak.ReplaceAllString(string(text), "")))
	}
	return all
}

// write writes the page: its head, its sections, the data of its script, its foot.
// Style and script are written as they are, so that the hashes of the security
// policy hold.
func (p *page) write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	style, script := strings.TrimSpace(pageStyle), strings.TrimSpace(pageScript)
	frame := struct {
		*page
		Style                 template.CSS
		Script                template.JS
		StyleHash, ScriptHash string
	}{p, template.CSS(style), template.JS(script), hashOf(style), hashOf(script)}
	if err := pageTemplates.ExecuteTemplate(out, "head", frame); err != nil {
		return err
	}
	for _, s := range p.Sections {
		if blocks, ok := s.View.(doc.Section); ok {
			if err := doc.WriteHTML(out, blocks); err != nil {
				return err
			}
			continue
		}
		if err := pageTemplates.ExecuteTemplate(out, s.ID, s.View); err != nil {
			return err
		}
	}
	if err := pageTemplates.ExecuteTemplate(out, "foot", frame); err != nil {
		return err
	}
	for _, k := range p.packs {
		// Base64 holds no character that HTML knows, so nothing is escaped.
		if _, err := fmt.Fprintf(out, "<script type=\"application/octet-stream\" id=\"%s\">%s</script>\n", k.ID, k.Data); err != nil {
			return err
		}
	}
	if err := pageTemplates.ExecuteTemplate(out, "end", frame); err != nil {
		return err
	}
	return out.Flush()
}

// hashOf is the source expression of a script or style in a security policy.
func hashOf(text string) string {
	digest := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(digest[:])
}
