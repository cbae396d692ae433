package runs

// Files of a run directory that are not tables.
const (
	CalibrationFile   = "calibration.json"   // of runs whose judge was compared with people
	DisagreementsFile = "disagreements.json" // of runs that have an agreement
)

// Forms are the tables of a run directory.
func Forms() []Form {
	return []Form{Rows().Form, Citations.Form, Claims.Form, Verdicts.Form, Quotations.Form, Calls.Form, Summary.Form, Agreement.Form, Texts.Form, Answers.Form}
}
