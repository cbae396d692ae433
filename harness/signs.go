package harness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/configs"
	"ibid/dataset/convert"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// A Sign says that the input is wrong, and not the system. One that stops ends a run
// before anything is written. The others are warnings: see [runs.Sign].
type Sign struct {
	Name  string
	Stops bool
	Text  string // what is seen, a sentence without its full stop
	Cause string // what it probably comes from
	Tip   string // what to do about it

	// find looks at the sums of one system; nil of what stops, or is seen in the run.
	find   func(*systemSums) seen
	little metricSet // metrics that mean little then; none of a note
	// asksGates says that gates look for the sign themselves, in the rows that they are
	// about.
	asksGates bool
}

// A metricSet is metrics, in words too.
type metricSet struct {
	about string
	has   func(d *metrics.Definition, judged bool) bool
}

var (
	allMetrics = metricSet{"all", func(*metrics.Definition, bool) bool { return true }}
	// notPresence are the metrics that need citations.
	notPresence = metricSet{"all but citation_presence", func(d *metrics.Definition, _ bool) bool { return d.Group != "presence" }}
	ofTruth     = metricSet{"those that compare with truth", func(d *metrics.Definition, _ bool) bool { return d.ComparesTruth() || isOverall(d) }}
	// ofTexts look at cited texts; the overall score does so where there is a judge.
	ofTexts = metricSet{
		"those that read texts: of tokens, and judged ones but citation_completeness and citation_coverage",
		func(d *metrics.Definition, judged bool) bool { return d.ReadsTexts() || judged && isOverall(d) },
	}
	ofQuotes = metricSet{"those of quotations", func(d *metrics.Definition, _ bool) bool { return d.Group == "quotations" }}
	// ofPlaces look at cited texts or places.
	ofPlaces = metricSet{
		"those of places to the character, and those that read texts",
		func(d *metrics.Definition, _ bool) bool { return d.OfSpans() || d.ReadsTexts() || isOverall(d) },
	}
)

// seen is what a sign sees in the sums of a system: nothing if Text is "".
type seen struct {
	text      string
	cases, of int64
	metrics   []string // if these are fewer than the sign names
}

// SignNoRecordLeft stops an import.
var SignNoRecordLeft = &Sign{
	Name: "no_record_left", Stops: true, Text: "no record of an import could be read",
	Cause: "the file has another format, or other names",
	Tip:   "ibid import auto FILE, or --columns THEIRS=OURS",
}

// SignMarksFromZero stops a run and an import.
var SignMarksFromZero = &Sign{
	Name: "marks_from_zero", Stops: true, Text: "answers cite [0], and none cites the number of its last source",
	Cause: "sources are numbered from 0",
	Tip:   "--set marks.first=0, or 1 if [0] was invented; of ibid import, --marks-first 0 or 1",
}

// SignAnswersElsewhere stops a run and an import.
var SignAnswersElsewhere = &Sign{
	Name: "answers_elsewhere", Stops: true, Text: "no answer cites anything, and texts of another member do that is called as answers are elsewhere",
	Cause: "the member answer has the expected answers, and another those of the system",
	Tip:   "--columns response=answer,answer=, or --columns answer=answer where the answers cite nothing",
}

// CheckImport is the error of an import whose answers seem to be in another member, or whose
// marks seem to count sources from 0, unless its user has said what they are.
func CheckImport(r *convert.Report, first *int, columns map[string]string) error {
	said := slices.Contains(slices.Collect(maps.Values(columns)), "answer")
	if names := slices.Sorted(maps.Keys(r.AnswersElsewhere)); r.Citations == 0 && len(names) > 0 && !said {
		name := slices.MaxFunc(names, func(a, b string) int { return cmp.Compare(r.AnswersElsewhere[a], r.AnswersElsewhere[b]) })
		err := SignAnswersElsewhere.Stop("no answer cites anything, and %s does in %d of %d rows: answer seems to be what is expected", name, r.AnswersElsewhere[name], r.Rows)
		err.Hint = fmt.Sprintf("--columns %s=answer,answer= reads %[1]s; where answers cite nothing, --columns answer=answer", name)
		return err
	}
	if first != nil || r.MarksOfZero == 0 || r.MarksOfLast > 0 {
		return nil
	}
	return SignMarksFromZero.Stop("[0] is cited in %d of %d answers, and the number of the last source in none: sources seem to count from 0", r.MarksOfZero, r.Rows)
}

// The signs that stop a run.
var (
	signNoRows = &Sign{
		Name: "no_rows", Stops: true, Text: "the dataset has no rows",
		Cause: "another file was meant, or an import left all of its records out",
		Tip:   "name the file that holds the answers; ibid import says how many records it wrote",
	}
	signNoRowLeft = &Sign{
		Name: "no_row_left", Stops: true, Text: "--only leaves no row",
		Cause: "the tag or its value is spelt otherwise, or occurs only after the rows of --limit",
		Tip:   "ibid run … --only TAG=VALUE with a tag that rows have",
	}
	signUnknownSlice = &Sign{
		Name: "unknown_slice", Stops: true, Text: "a slice is by a tag that no row has",
		Cause: "the tag is spelt otherwise, or the import left it out",
		Tip:   "slices: [TAG], with a tag that rows have, or " + strings.Join(runs.ColumnSlices(), ", "),
	}
	signEmptyDocuments = &Sign{
		Name: "empty_documents", Stops: true, Text: "the documents hold no document",
		Cause: "another file was meant",
		Tip:   "name the file that holds the sources; without any, leave documents out: places are scored, texts are not",
	}
	signTruthOnly = &Sign{
		Name: "truth_only", Stops: true, Text: "the rows have truth and no answers",
		Cause: "they are questions with truth, such as those of a dataset for question answering",
		Tip:   "ibid run ANSWERS --truth THEM, where ANSWERS has what a system answered",
	}
	signOffsetsSwapped = &Sign{
		Name: "offsets_swapped", Stops: true, Text: "more than half of the first places start after their end",
		Cause: "start and end are swapped",
		Tip:   "start and end swapped? --columns citations.start=citations.end,citations.end=citations.start,truth.start=truth.end,truth.end=truth.start; of CSV --columns start=end,end=start",
	}
	signNoCitedDocument = &Sign{
		Name: "no_cited_document", Stops: true, Text: "none of the cited documents is among the documents",
		Cause: "documents are called otherwise than in citations, or are of another collection",
		Tip:   "cite documents by their names in the column doc",
	}
)

// signNothingJoined stops a run, too.
var signNothingJoined = &Sign{
	Name: "nothing_joined", Stops: true, Text: "nothing of a table of truth or labels belongs to any answer",
	Cause: "its ids, or its systems, are spelt otherwise, or it is of other questions",
	Tip:   "truth is joined by id, labels by id and system (\"default\" where the table names none)",
}

// signNoAnswers stops a run without any answer, and is seen where many are empty.
var signNoAnswers = &Sign{
	Name: "no_answers", Text: "more than 20 % of a system's rows have no answer and no citation; a run of five rows or more without any answer stops",
	Cause:  "calls failed, or the answers are in another column",
	Tip:    "--columns THEIRS=answer names the column of the answers; ibid run --dry-run lists columns that are not read",
	find:   share(0.2, func(s *systemSums) (int64, int64) { return s.empty, s.rows }, "rows have no answer and no citation"),
	little: allMetrics,
}

// signTruthMissing stops a run all of whose truth is of other documents.
var signTruthMissing = &Sign{
	Name: "truth_missing", Text: "more than 20 % of the truth of a system's rows names documents that are not there; a run of up to 1,000 rows stops where all of it does",
	Cause:  "truth was marked in other documents, or calls them otherwise",
	Tip:    "write the same names in both, or give the documents that were marked: --documents PATH",
	find:   share(0.2, func(s *systemSums) (int64, int64) { return s.places.Missing, s.places.Marks }, "truth spans name documents that are not there"),
	little: ofTruth,
}

// signMinDefined is asked of by gates, too.
var signMinDefined = &Sign{
	Name: runs.MinDefinedSign, Text: "metrics are defined for less of a system's rows than min_defined",
	Cause: "answers without citations, or rows without what the metric needs",
	Tip:   "ibid show RUN --format csv --table rows has the reasons in its column undefined",
	find:  (*systemSums).fewDefined, asksGates: true, little: metricSet{about: "those that it lists; a gate asks of the rows that it is about"},
}

// signQuestionsMissing is asked of by gates over differences.
var signQuestionsMissing = &Sign{
	Name: runs.QuestionsMissingSign, Text: "questions of the baseline are missing in the run",
	Cause:     "the system did not answer them, or the dataset is another one",
	Tip:       "answer all questions of the baseline, or take a baseline over the same ones; --limit and --only say that the others are left out on purpose",
	asksGates: true, little: metricSet{about: "those that a gate compares with the baseline"},
}

// signElsewhereNotAsked is a note about the judge of the run.
var signElsewhereNotAsked = &Sign{
	Name: "elsewhere_not_asked", Text: "nobody was asked whether other passages support a claim: what only they support counts as unsupported",
	Cause: "the judge does not look at passages that a claim does not cite, or a recorded file has no line about them",
	Tip:   "lines with evidence elsewhere in a recorded file, or another judge",
}

// signs are all, those that stop first.
var signs = []*Sign{
	signNoRows, signNoRowLeft, SignNoRecordLeft, SignAnswersElsewhere, SignMarksFromZero, signUnknownSlice, signEmptyDocuments, signNoCitedDocument, signNothingJoined,
	signTruthOnly, signOffsetsSwapped, signNoAnswers, signTruthMissing,
	{
		Name: "citations_null", Text: "no answer of a system says what it cites: citations is null in all of its rows",
		Cause: "the column has another name, or the import does not know where citations are",
		Tip:   "columns: {THEIRS: citations}, or ibid import … --columns THEIRS=citations; an empty list says that nothing is cited",
		find: func(s *systemSums) seen {
			if s.rows == 0 || s.nulls < s.rows {
				return seen{}
			}
			return seen{fmt.Sprintf("citations is null in %s", all(s.rows, "row", "rows")), s.nulls, s.rows, nil}
		},
		little: notPresence,
	},
	{
		Name: "marks_unread", Text: "more than 10 % of a system's answers have marks that were not understood, such as [4-2]",
		Cause: "the marks have a form that is not read, or number what the file does not hold",
		Tip:   "ibid import FILE -o answers.parquet lists them by form and row; citations that are given as a list are not read from the text",
		find: func(s *systemSums) seen {
			if !isShare(s.unread, s.marked, 0.1) {
				return seen{}
			}
			return seen{fmt.Sprintf("%s in %d of %d answers not understood", plural(int(s.counts[metrics.UnreadMarks]), "mark", "marks"), s.unread, s.marked), s.unread, s.marked, nil}
		},
		little: notPresence,
	},
	{
		Name: "no_citations_read", Text: "no answer of a system cites anything, though the sources are known and marks were looked for in the text",
		Cause: "citations are in a member that is not read, or in marks of a form that is not known",
		Tip:   "--columns THEIRS=citations reads a list under another name; an empty list citations says that nothing is cited",
		find: func(s *systemSums) seen {
			if said := s.rows - s.counts[metrics.Abstained]; s.marked == s.rows && s.counts[metrics.Citations] == 0 && said >= fewestCases {
				return seen{fmt.Sprintf("no answer of %d cites anything", said), said, said, nil}
			}
			return seen{}
		},
		little: notPresence,
	},
	{
		Name: "documents_missing", Text: "more than 20 % of the citations of a system name documents that are not among those given",
		Cause: "documents are called otherwise than in citations, or not all of them were given",
		Tip:   "write the same names in both, or give all documents: --documents PATH; ibid run --dry-run names those that are missing",
		find: share(0.2, func(s *systemSums) (int64, int64) {
			return s.counts[metrics.MissingCitations], s.counts[metrics.CheckedCitations]
		}, "citations name documents that are not among those given"),
		little: ofTexts,
	},
	{
		Name: "quotes_misplaced", Text: "more than 5 % of a system's quotes are not where its citations say: they are elsewhere, in several places, or nowhere",
		Cause:  "offsets count bytes or UTF-16, ends are inclusive, or the documents are not those that were cited",
		Tip:    "offset_unit: byte or utf16, span_end: inclusive; ibid run --dry-run lists the places",
		find:   share(0.05, func(s *systemSums) (int64, int64) { return s.places.Misplaced, s.places.Quoted }, "quotes are not where their citations say"),
		little: ofPlaces,
	},
	{
		Name: "quotes_unreadable", Text: "more than half of a system's quotations, of 20 or more, differ from all texts of sources",
		Cause: "the documents are not the texts that the system read, or their text was extracted badly",
		Tip:   "give the texts that the system was shown: --documents PATH; ibid show RUN --table quotes --format csv lists the quotations",
		find: func(s *systemSums) seen {
			all := s.counts[metrics.AllQuotations]
			if all < fewestQuotations {
				return seen{}
			}
			return share(0.5, func(s *systemSums) (int64, int64) {
				return all - s.counts[metrics.FaithfulQuotations] - s.counts[metrics.MisattributedQuotations], all
			}, "quotations differ from all texts of sources")(s)
		},
		little: ofQuotes,
	},
	{
		Name: "marks_shifted", Text: "more than half of a system's marks seem to mean the document before the one that they cite, or the next one",
		Cause:  "marks count from 0 and were read from 1, or documents are listed in another order than the system was shown",
		Tip:    "--set marks.first=0 (or 1), of ibid import --marks-first; or list documents in the order of their numbers",
		find:   marksShifted,
		little: notPresence,
	},
	{
		Name: "truth_out_of_bounds", Text: "more than 1 % of the truth spans of a system's rows end after their document or page",
		Cause:  "truth was marked in other texts, or its offsets count something else",
		Tip:    "give the documents that were marked: --documents PATH, or say what offsets count: offset_unit: byte or utf16",
		find:   share(0.01, func(s *systemSums) (int64, int64) { return s.places.Outside, s.places.Marks }, "truth spans end after their document or page"),
		little: ofTruth,
	},
	{
		Name: ibid.NoText.String(), Text: "more than 20 % of a system's claims could not be judged, because no text that they cite is known",
		Cause:  "citations are URLs, or documents that were not given",
		Tip:    "ibid fetch ANSWERS -o sources.parquet, then --documents sources.parquet; judge: none asks about places only",
		find:   share(0.2, func(s *systemSums) (int64, int64) { return s.noText, s.counts[metrics.Claims] }, "claims cite no text that is known"),
		little: ofTexts,
	},
	{
		Name: "whole_documents", Text: "more than half of the places of a system are 80 % or more of a document of over 2,000 code points",
		Cause:  "offsets were filled in where only the document is known",
		Tip:    "leave start and end out, or say unit: document",
		find:   share(0.5, func(s *systemSums) (int64, int64) { return s.places.Whole, s.places.Placed }, "places are as good as whole documents"),
		little: ofPlaces,
	},
	{
		Name: "same_answers", Text: "at least 90 % of the answers of a system are, with their citations, those of another system to the same questions",
		Cause: "answers of one system were read twice, under two names",
		Tip:   "ibid import … --system NAME once for the answers of each system",
		find: func(s *systemSums) seen {
			if s.like == "" {
				return seen{}
			}
			return seen{fmt.Sprintf("%d of %d answers are those of %s", s.same, s.shared, s.like), s.same, s.shared, nil}
		},
		little: allMetrics,
	},
	signMinDefined, signQuestionsMissing,
	signElsewhereNotAsked,
	{
		Name: "same_model", Text: "two systems have the same model: their comparison is of something else than the model (a note, no sign)",
		Cause: "an A/B test",
		Tip:   "nothing, if it is meant",
		find: func(s *systemSums) seen {
			if len(s.twins) == 0 {
				return seen{}
			}
			return seen{text: fmt.Sprintf("its model %s is also that of %s", s.model, listed(s.twins, maxListedNames))}
		},
	},
}

// Signs are all signs, those that stop first.
func Signs() []*Sign { return slices.Clone(signs) }

// Note says that the sign is none, only something to know.
func (s *Sign) Note() bool { return !s.Stops && s.little.has == nil && !s.asksGates }

// Names says in words which metrics mean little where the sign is seen; "" if it stops, or
// is a note.
func (s *Sign) Names() string { return s.little.about }

// Stop is the error of a sign that stops.
func (s *Sign) Stop(format string, args ...any) *ibid.Error {
	return ibid.Usagef(format+" (sign %s)", append(args, s.Name)...).With(s.Tip)
}

// fewestCases is how many cases a share must rest on to be a sign.
const fewestCases = 5

// signLevel is the confidence level of the intervals of shares.
const signLevel = 0.95

// isShare reports whether cases of all are surely more than a limit: there are five or
// more, and the lower end of Wilson's interval is above it.
func isShare(cases, all int64, limit float64) bool {
	return all >= fewestCases && stats.Wilson(float64(cases), float64(all), signLevel).Low > limit
}

// fewestQuotations is how many quotations of a system can be a sign.
const fewestQuotations = 20

// share is a sign of a share above a limit of k cases of n.
func share(limit float64, count func(*systemSums) (k, n int64), what string) func(*systemSums) seen {
	return func(s *systemSums) seen {
		k, n := count(s)
		if !isShare(k, n, limit) {
			return seen{}
		}
		return seen{fmt.Sprintf("%d of %d %s", k, n, what), k, n, nil}
	}
}

// all counts rows in words.
func all(n int64, one, many string) string {
	if n == 1 {
		return "its only " + one
	}
	return fmt.Sprintf("all of its %d %s", n, many)
}

func isOverall(d *metrics.Definition) bool { return d.Name == metrics.OverallCitationAccuracy.String() }

// metricNames are the names of the metrics that a sign says mean little.
func (s *Sign) metricNames(judged bool) []string {
	names := []string{}
	if s.little.has == nil {
		return names
	}
	for _, d := range metrics.Definitions() {
		if s.little.has(&d, judged) && (judged || !d.Judged) {
			names = append(names, d.Name)
		}
	}
	return names
}

// checkAccepted refuses names under accept that no sign has.
func checkAccepted(c *configs.Config) error {
	var names []string
	for _, s := range signs {
		if !s.Stops && !s.Note() {
			names = append(names, s.Name)
		}
	}
	for _, name := range c.Accept {
		if !slices.Contains(names, name) {
			return c.Refuse("accept", "no sign is called "+strconv.Quote(name), meantAmong(name, names, "signs are", ""))
		}
	}
	return nil
}

// fewDefined is the sign min_defined.
func (s *systemSums) fewDefined() seen {
	if len(s.few) == 0 {
		return seen{}
	}
	least := slices.MinFunc(s.few, func(a, b runs.FewDefined) int {
		return cmp.Compare(a.Defined*float64(b.Rows), b.Defined*float64(a.Rows))
	})
	var names []string
	for _, f := range s.few {
		names = append(names, f.Metric)
	}
	text := fmt.Sprintf("%s is defined for %s of %d rows", least.Metric, least.RowsText(), least.Rows)
	if more := len(s.few) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more for less than min_defined %v", more, metrics.MinDefined)
	} else {
		text += fmt.Sprintf(", less than min_defined %v", metrics.MinDefined)
	}
	if least.Why != "" {
		text += "; most others have " + least.Why
	}
	return seen{text, least.Rows - int64(least.Defined), least.Rows, names}
}

// findSigns looks for signs in the sums of the finished tables of the run, which are the same
// however the run was made.
func (p *Plan) findSigns(m *runs.Manifest, sums map[string]*systemSums, summary []runs.SummaryRow) {
	for system, places := range m.Places {
		if s := sums[system]; s != nil {
			s.places = *places
		}
	}
	addFewDefined(sums, summary)
	m.Signs = nil
	for _, s := range signs {
		if s == signElsewhereNotAsked && p.judge != nil && !m.Judge.AsksElsewhere {
			p.addSign(m, s, "", seen{text: s.Text})
		}
		if s.find == nil {
			continue
		}
		for _, system := range slices.Sorted(maps.Keys(sums)) {
			p.addSign(m, s, system, s.find(sums[system]))
		}
	}
}

// addSign puts a sign into the manifest, if it was found, and warns of it.
func (p *Plan) addSign(m *runs.Manifest, s *Sign, system string, found seen) {
	if found.text == "" {
		return
	}
	sign := runs.Sign{
		Name: s.Name, System: system, Text: found.text, Cases: found.cases, Of: found.of, Cause: s.Cause, Tip: s.Tip,
		Metrics: s.metricNames(p.judge != nil), Note: s.Note(), Accepted: slices.Contains(p.job.Config.Accept, s.Name),
	}
	if found.metrics != nil {
		sign.Metrics = found.metrics
	}
	m.Signs = append(m.Signs, sign)
	if !sign.Note && !sign.Accepted {
		p.job.warn("%s; probably %s: %s", sign.Sentence(), sign.Cause, sign.Tip)
	}
}
