package runs

// Files of a run directory that are not tables.
const (
	CalibrationFile   = "calibration.json"   // of runs whose judge was compared with people
	DisagreementsFile = "disagreements.json" // of runs that have an agreement
)

// GivenDir is the folder in a run directory that holds the run over the same rows with
// their spans as given, if a gate named one.
const GivenDir = "given"

// AnchorsDir is the folder in a run directory that holds the run over the anchors
// of its judge.
const AnchorsDir = "anchors"

// Forms are the tables of a run directory.
func Forms() []Form {
	return []Form{Rows().Form, Citations.Form, Claims.Form, Verdicts.Form, Calls.Form, Summary.Form, Agreement.Form, Labelled().Form}
}
