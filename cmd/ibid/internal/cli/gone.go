package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"ibid"
)

// goneCommands says for each command of the version before what to do instead.
// Its keys are names below ibid, such as "cache export".
var goneCommands = map[string]string{
	"check":        "ibid run RUN.yaml --dry-run reads the inputs, says what is wrong with them and what the judge would cost, and with -v lists every setting",
	"ls":           "ibid history DIR lists the runs of a folder",
	"schema":       "ibid init writes ibid.schema.json beside the run file",
	"version":      "ibid --version prints the version",
	"cache export": "read the file of the cache in DuckDB: ATTACH 'judge.sqlite' AS judge (TYPE sqlite)",
	"merge":        "ibid score RUN.yaml DATASET --rows A:B -o parts/0 scores some of the rows, and ibid summary parts/* -o runs/NAME joins them",
	"documents":    "give the documents to each process: ibid score RUN.yaml --documents DOCUMENTS",
	"verify":       "evaluate the data again with ibid run --fresh: the same data and settings give the same bytes, and a command refuses to read a file of a run that was changed",
}

// goneFlags is the same for flags. Its keys are a command and a flag, such as
// "run --forecast", or the flag alone where every command had it.
var goneFlags = map[string]string{
	"calibrate --again":          "compare the two runs: ibid compare says for each metric whether they differ",
	"calibrate --fit":            "leave it out: no weights are fitted to lexical any more, and calibrate prints the threshold that does best on the labels",
	"--cpuprofile":               "IBID_PROFILE=DIR in the environment writes profiles into a folder",
	"--memprofile":               "IBID_PROFILE=DIR in the environment writes profiles into a folder",
	"--trace":                    "IBID_PROFILE=DIR in the environment writes profiles into a folder",
	"agree --blind":              "a round is a folder now: ibid agree DIR",
	"agree --filled":             "put the files of people into the folder of the round: ibid agree DIR",
	"agree --adjudicate":         "ibid agree DIR|DATASET --gold gold.jsonl writes one opinion, for --truth and --labels of ibid run",
	"annotate --adjudicate":      "it is --decide",
	"annotate --share":           "the round shares the items out: ibid sample --annotators ada,ben",
	"annotate --overlap":         "the round shares the items out: ibid sample --annotators ada,ben --overlap 0.2",
	"annotate --seed":            "the round has an order: ibid sample --seed",
	"annotate --purpose":         "the round has a purpose: ibid sample --purpose",
	"annotate --propose":         "the round has proposals: ibid sample --propose RUN",
	"annotate --withhold":        "leave it out: half of the items that have proposals do not show them",
	"annotate --documents":       "draw a round first: ibid sample DATASET --documents DOCUMENTS -o DIR",
	"annotate --truth":           "draw a round first: ibid sample DATASET --truth TABLE -o DIR",
	"annotate --labels":          "draw a round first: ibid sample DATASET --labels TABLE -o DIR",
	"calibrate --with-proposals": "leave it out: items of labels show no proposals",
	"agree --plan":               "leave it out: ibid calibrate RUN prints the corrected support of its claims with the interval that the labels leave",
	"agree --run":                "ibid calibrate RUN compares its judge with people",
	"agree --fail-under":         "it is a condition now: --gate 'alpha >= 0.8'",
	"agree --item":               "name the columns of the table: --columns claim=item,who=annotator",
	"agree --value":              "name the columns of the table: --columns verdict=value",
	"agree --annotator":          "name the columns of the table: --columns who=annotator",
	"agree --cluster":            "name the columns of the table: --columns page=cluster",
	"agree --categories":         "it is --values",
	"calibrate --fail-under":     "it is a condition now: --gate 'balanced_accuracy >= 0.8'",
	"calibrate --item":           "name the columns of the table: --columns claim=item,who=annotator",
	"calibrate --value":          "name the columns of the table: --columns verdict=value",
	"calibrate --annotator":      "name the columns of the table: --columns who=annotator",
	"calibrate --cluster":        "name the columns of the table: --columns page=cluster",
	"calibrate --categories":     "it is --values",
	"calibrate --bins":           "leave it out: scores are put into five bins",
	"calibrate --positive":       "--threshold holds for the judge and for people; write what people said as 0 and 1 where theirs is another",
	"annotate --plan":            "leave it out: ibid calibrate RUN prints the corrected support of its claims with the interval that the labels leave",
	"compare --delta":            "leave it out: compare prints for each difference the least one that these rows would have shown (mde)",
	"compare --method":           "leave it out: there is one way to make an interval, from the documents that questions share",
	"compare --resamples":        "leave it out: nothing is resampled, intervals and p-values are in closed form",
	"compare --plan":             "leave it out: compare prints for each difference the least one that these rows would have shown (mde)",
	"run --shard":                "ibid score RUN.yaml DATASET --rows A:B -o parts/0 scores some of the rows, and ibid summary parts/* -o runs/NAME joins them",
	"show --gate":                "ask rows.parquet: SELECT id FROM 'RUN/rows.parquet' WHERE char_f1 < 0.5 in DuckDB",
	"import --max-line":          "leave it out: a record may have 64 MiB, and --limits N multiplies that and every other limit",
	"history --baseline":         "leave it out: history has no control charts, and ibid compare says whether two runs differ",
	"history --baseline-nights":  "leave it out: history has no control charts, and ibid compare says whether two runs differ",
}

// goneFormats is the same for values of --format. Its keys are a command and a value.
var goneFormats = map[string]string{
	"history svg":  "look at the page of the last run, which draws the trend of its metrics: ibid report RUN",
	"show parquet": "copy the file itself: each table of a run is a Parquet file in its folder, such as RUN/rows.parquet",
	"show sql":     "read the file itself, SELECT * FROM 'RUN/rows.parquet'; ibid help columns has the SQL of the metrics that follow from its columns",
}

// goneCommand is the error for arguments of cmd that begin with a command of the
// version before, or nil.
func goneCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	name := belowIbid(cmd, args[0])
	if instead, ok := goneCommands[name]; ok {
		return ibid.Usagef("the command ibid %s is gone", name).With(instead)
	}
	return nil
}

// goneFlag is the error for a flag of the version before, or nil.
func goneFlag(cmd *cobra.Command, flag string) error {
	instead, ok := goneFlags[belowIbid(cmd, "--"+flag)]
	if !ok {
		instead, ok = goneFlags["--"+flag]
	}
	if !ok {
		return nil
	}
	return ibid.Usagef("the flag --%s is gone", flag).With(instead)
}

// belowIbid is the path of a command, without the program's name, and a word.
func belowIbid(cmd *cobra.Command, word string) string {
	return strings.TrimPrefix(cmd.CommandPath()+" "+word, cmd.Root().Name()+" ")
}
