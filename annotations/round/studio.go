package round

import (
	"encoding/json"
	"fmt"
	"io"
	"text/template"

	"ibid"
)

// studioGroups are the questions of items by how they are answered in Label Studio, whose
// configuration is one for all tasks: so documents and questions are numbered, and a task that has
// fewer of them shows nothing in the places of the rest. formats/label_studio.jq reads the names.
var studioGroups = [2]struct {
	list, name string // of the questions of a task, and of one of them before its number
	options    []string
}{
	{"support", "support_", []string{"Supported", "Mostly supported", "Partially supported", "Not supported"}},
	{"yesno", "yesno_", []string{"Yes", "No"}},
}

// A studioQuestion is what the export of a task says a question was about.
type studioQuestion struct {
	Kind       string `json:"kind"`
	ClaimID    string `json:"claim_id,omitempty"`
	CitationID string `json:"citation_id,omitempty"`
	text       string
}

// studioQuestions are the questions of the item, by [studioGroups].
func (it *Item) studioQuestions() [2][]studioQuestion {
	all := [2][]studioQuestion{{}, {}}
	for _, l := range it.Labels {
		group := 1
		if l.Kind == ibid.SupportLabel {
			group = 0
		}
		all[group] = append(all[group], studioQuestion{l.Kind, l.ClaimID, l.CitationID, it.Ask(l)})
	}
	return all
}

// mostInStudio is how many documents, and questions of each group, an item has at most.
func mostInStudio(items []Item) (documents int, questions [2]int) {
	for i := range items {
		documents = max(documents, len(items[i].Documents))
		for group, asked := range items[i].studioQuestions() {
			questions[group] = max(questions[group], len(asked))
		}
	}
	return documents, questions
}

// shown is a text as a task has it, where Label Studio wants one.
func shown(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// WriteTasks writes items for Label Studio to import. [WriteConfig] writes how it shows them.
func WriteTasks(w io.Writer, items []Item) error {
	documents, questions := mostInStudio(items)
	all := []map[string]map[string]any{}
	for i := range items {
		it := &items[i]
		data := map[string]any{
			"id": it.ID, "ibid": "ibid.task/v1", "question": shown(it.Query), "answer": shown(it.Answer),
			"documents": append([]string{}, it.Documents...),
		}
		for k := range documents {
			doc, text := "", ""
			if k < len(it.Documents) {
				doc, text = it.Documents[k], it.texts[k]
			}
			name := fmt.Sprintf("document_%d", k+1)
			data[name], data[name+"_name"] = text, shown(doc)
		}
		for group, asked := range it.studioQuestions() {
			data[studioGroups[group].list] = asked
			for k := range questions[group] {
				text := ""
				if k < len(asked) {
					text = asked[k].text
				}
				data[fmt.Sprint(studioGroups[group].name, k+1)] = shown(text)
			}
		}
		all = append(all, map[string]map[string]any{"data": data})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(all)
}

// studioConfig is the labeling configuration. Without its style, spaces at the ends of lines are
// lost. The choices of places tell who found nothing to mark from who did not look.
var studioConfig = template.Must(template.New("").Parse(`<View>
  <Style>.htx-text { white-space: pre-wrap; }</Style>
  <Header value="Question"></Header>
  <Text name="question" value="$question"></Text>
  <Header value="Answer"></Header>
  <Text name="answer" value="$answer"></Text>
  {{- range .Documents}}
  <Header value="$document_{{.}}_name"></Header>
  <Labels name="evidence_{{.}}" toName="document_{{.}}">
    <Label value="Evidence"></Label>
  </Labels>
  <Text name="document_{{.}}" value="$document_{{.}}"></Text>{{end}}
  <Header value="Places in the documents that are evidence"></Header>
  <Choices name="places" toName="question" choice="single-radio" required="true">
    <Choice value="All places are marked"></Choice>
    <Choice value="Nothing to mark"></Choice>
    <Choice value="I did not look for places"></Choice>
  </Choices>
  {{- range .Questions}}
  <Text name="{{.Name}}" value="${{.Name}}"></Text>
  <Choices name="choice_{{.Name}}" toName="{{.Name}}" choice="single-radio">
  {{- range .Options}}
    <Choice value="{{.}}"></Choice>{{end}}
  </Choices>{{end}}
</View>
`))

// WriteConfig writes the labeling configuration that shows items. It knows nothing of them but how
// many documents and questions an item has.
func WriteConfig(w io.Writer, items []Item) error {
	type question struct {
		Name    string
		Options []string
	}
	var view struct {
		Documents []int
		Questions []question
	}
	documents, questions := mostInStudio(items)
	for k := range documents {
		view.Documents = append(view.Documents, k+1)
	}
	for group, most := range questions {
		for k := range most {
			view.Questions = append(view.Questions, question{fmt.Sprint(studioGroups[group].name, k+1), studioGroups[group].options})
		}
	}
	return studioConfig.Execute(w, view)
}
