package convert

import (
	"encoding/json"
	"io"
	"strconv"
	"text/template"

	"ibid"
)

// Names of the tasks and controls that show items of a blind sample in Label Studio.
// Its configuration is one for all tasks, so texts and questions are numbered, and
// tasks that have fewer of them show nothing in the places of the rest.
const (
	blindMember = "ibid"
	blindSchema = "ibid.task/v1"

	blindDocument = "document_"
	blindEvidence = "evidence_"
	blindSupport  = "support_" // questions of how far something is supported
	blindYesNo    = "yesno_"   // questions for yes or no
	blindChoice   = "choice_"  // the answer to a question, before its name
	blindPlaces   = "places"
)

// Options of the question about places, which formats/label_studio.jq reads. They tell an annotator
// who found nothing to mark from one who did not look.
const (
	placesMarked  = "All places are marked"
	placesNone    = "Nothing to mark"
	placesUnknown = "I did not look for places"
)

// A BlindTask is an item of a blind sample as its annotators see it in Label Studio.
type BlindTask struct {
	ID, Question, Answer string
	Documents            []BlindText
	Questions            []BlindQuestion
}

// A BlindText is a document to mark places in.
type BlindText struct{ Doc, Text string }

// A BlindQuestion is a label without its value.
type BlindQuestion struct {
	Kind       string `json:"kind"` // as in a dataset's labels
	ClaimID    string `json:"claim_id,omitempty"`
	CitationID string `json:"citation_id,omitempty"`
	Text       string `json:"-"` // what the annotator is asked
}

// divide parts the questions of a task by how they are answered.
func (t *BlindTask) divide() (support, yesNo []BlindQuestion) {
	support, yesNo = []BlindQuestion{}, []BlindQuestion{}
	for _, q := range t.Questions {
		if q.Kind == ibid.SupportLabel {
			support = append(support, q)
		} else {
			yesNo = append(yesNo, q)
		}
	}
	return support, yesNo
}

// A blindShape is how many texts and questions a task has at most.
type blindShape struct{ documents, support, yesNo int }

func shapeOfTasks(tasks []BlindTask) (s blindShape) {
	for i := range tasks {
		support, yesNo := tasks[i].divide()
		s.documents = max(s.documents, len(tasks[i].Documents))
		s.support, s.yesNo = max(s.support, len(support)), max(s.yesNo, len(yesNo))
	}
	return s
}

// unused stands where a task has no question.
const unused = "–"

// WriteBlindTasks writes tasks for Label Studio to import. [WriteBlindConfig] writes
// how it shows them.
func WriteBlindTasks(w io.Writer, tasks []BlindTask) error {
	s := shapeOfTasks(tasks)
	all := []map[string]map[string]any{}
	for i := range tasks {
		t := &tasks[i]
		support, yesNo := t.divide()
		names := []string{}
		data := map[string]any{
			blindMember: blindSchema, "id": t.ID, "question": orUnused(t.Question), "answer": orUnused(t.Answer),
			"support": support, "yesno": yesNo,
		}
		for k := range s.documents {
			var d BlindText
			if k < len(t.Documents) {
				d = t.Documents[k]
				names = append(names, d.Doc)
			}
			data[numbered(blindDocument, k)] = d.Text
			data[numbered(blindDocument, k)+"_name"] = orUnused(d.Doc)
		}
		data["documents"] = names
		for k := range s.support {
			data[numbered(blindSupport, k)] = questionText(support, k)
		}
		for k := range s.yesNo {
			data[numbered(blindYesNo, k)] = questionText(yesNo, k)
		}
		all = append(all, map[string]map[string]any{"data": data})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(all)
}

func numbered(name string, index int) string { return name + strconv.Itoa(index+1) }

func orUnused(text string) string {
	if text == "" {
		return unused
	}
	return text
}

func questionText(all []BlindQuestion, i int) string {
	if i >= len(all) {
		return unused
	}
	return all[i].Text
}

// blindConfig is the labeling configuration. Without its style, spaces at the ends of lines are
// lost.
var blindConfig = template.Must(template.New("").Parse(`{{define "question"}}
  <Text name="{{.Name}}" value="${{.Name}}"></Text>
  <Choices name="` + blindChoice + `{{.Name}}" toName="{{.Name}}" choice="single-radio">
  {{- range .Options}}
    <Choice value="{{.}}"></Choice>{{end}}
  </Choices>{{end -}}
<View>
  <Style>.htx-text { white-space: pre-wrap; }</Style>
  <Header value="Question"></Header>
  <Text name="question" value="$question"></Text>
  <Header value="Answer"></Header>
  <Text name="answer" value="$answer"></Text>
  {{- range .Documents}}
  <Header value="$` + blindDocument + `{{.}}_name"></Header>
  <Labels name="` + blindEvidence + `{{.}}" toName="` + blindDocument + `{{.}}">
    <Label value="Evidence"></Label>
  </Labels>
  <Text name="` + blindDocument + `{{.}}" value="$` + blindDocument + `{{.}}"></Text>{{end}}
  <Header value="Places in the documents that are evidence"></Header>
  <Choices name="` + blindPlaces + `" toName="question" choice="single-radio" required="true">
    <Choice value="` + placesMarked + `"></Choice>
    <Choice value="` + placesNone + `"></Choice>
    <Choice value="` + placesUnknown + `"></Choice>
  </Choices>
  {{- range .Questions}}{{template "question" .}}{{end}}
</View>
`))

// WriteBlindConfig writes the labeling configuration that shows tasks. It knows
// nothing of them but how many texts and questions a task has.
func WriteBlindConfig(w io.Writer, tasks []BlindTask) error {
	type question struct {
		Name    string
		Options []string
	}
	var view struct {
		Documents []int
		Questions []question
	}
	s := shapeOfTasks(tasks)
	for k := range s.documents {
		view.Documents = append(view.Documents, k+1)
	}
	for k := range s.support {
		view.Questions = append(view.Questions, question{numbered(blindSupport, k), []string{"Supported", "Mostly supported", "Partially supported", "Not supported"}})
	}
	for k := range s.yesNo {
		view.Questions = append(view.Questions, question{numbered(blindYesNo, k), []string{"Yes", "No"}})
	}
	return blindConfig.Execute(w, view)
}
