package prompts

// about says what each prompt is for, in a few words.
var about = map[Name]string{
	MatrixSystem:  "the instructions, the same for every row",
	MatrixUser:    "a row: question, claims and passages",
	Necessity:     "added to a row where judge.necessity asks which citations suffice",
	Repair:        "sent once after a reply that could not be used",
	Support:       "judge.mode: pairwise, a claim and one passage",
	Hallucination: "judge.mode: pairwise, a claim and the passages that it does not cite",
}

// About says what the prompt is for, in a few words.
func (n Name) About() string { return about[n] }

// File is the name of the prompt's file.
func (n Name) File() string { return string(n) + ".tmpl" }

// Fields are what the prompt can have in double braces: those that it must have,
// and those that it may have besides.
func (n Name) Fields() (must, may []string) {
	f := fields[n]
	return append([]string(nil), f.must...), append([]string(nil), f.may...)
}
