package runs

import "ibid/dataset"

// Files of what a run keeps of its data.
const (
	TextsFile   = "texts.parquet"   // of runs that have documents
	AnswersFile = "answers.parquet" // of runs that have a judge
)

// Texts is the table of texts.parquet.
var Texts = NewTable[dataset.Text](TextsFile, "one document that a citation, truth or evidence points to, or a piece of it, in the order of digest")

// An Answer is what was asked and answered: a row of answers.parquet.
type Answer struct {
	Row    int64  `col:"row" doc:"position in the input, from 0"`
	Query  string `col:"query" doc:"what was asked" null:"null or empty in the input"`
	Answer string `col:"answer" doc:"what was answered" null:"null or empty in the input"`
}

// Answers is the table of answers.parquet.
var Answers = NewTable[Answer](AnswersFile, "question and answer of one row of the input, of runs that have a judge")
