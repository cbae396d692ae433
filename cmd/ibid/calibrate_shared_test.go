package main

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ibid/report"
)

// TestCalibratePeople measures four judges against people with a fixed threshold, and with those
// that --fit chooses, as an independent program does.
func TestCalibratePeople(t *testing.T) {
	t.Parallel()
	shared, err := filepath.Abs(filepath.Join("..", "..", "..", "shared"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	readShared(t, filepath.Join(shared, "expected", "people.json"), &all)
	dir := t.TempDir()
	if out, err := exec.Command("python3", filepath.Join(shared, "expected", "people_data.py"), shared, filepath.Join(dir, "D")).CombinedOutput(); err != nil {
		t.Skipf("no data: %v %s", err, out)
	}
	for _, judge := range []string{"gpt-4-0613", "gpt-3.5-turbo-0613", "t5-3b-anli-wice", "t5-3b-anli"} {
		var want struct {
			Threshold   float64
			Counts      [4]int64 `json:"tp_fp_fn_tn"`
			Balanced    float64  `json:"balanced_accuracy"`
			Sensitivity float64
			Specificity float64
			Kappa       float64
			AUROC       float64
			Fitted      struct {
				Threshold float64
				Folds     []float64
				Counts    [4]int64 `json:"tp_fp_fn_tn"`
				Balanced  float64  `json:"balanced_accuracy"`
			}
		}
		if err := json.Unmarshal(all["calibrate wice "+judge], &want); err != nil {
			t.Fatal(err)
		}
		labels := filepath.Join("D", "labels-wice-"+judge+".csv")
		calibrated := func(args ...string) report.Calibration {
			t.Helper()
			var got report.Calibration
			args = append([]string{"calibrate", labels, "--judge-name", "judge"}, args...)
			if err := json.Unmarshal([]byte(mustIbid(t, dir, append(args, "--json")...)), &got); err != nil || len(got.Kinds) != 1 {
				t.Fatal(err)
			}
			if n := strings.Count(mustIbid(t, dir, args...), "\n"); n > 30 {
				t.Errorf("%s: %d lines", judge, n)
			}
			return got
		}
		near := func(name string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: %s is %v, want %v", judge, name, got, want)
			}
		}
		k := calibrated("--threshold", "0.7").Kinds[0]
		if got := [4]int64{k.TP, k.FP, k.FN, k.TN}; got != want.Counts || k.Fitted != nil {
			t.Errorf("%s: %v, want %v", judge, got, want.Counts)
		}
		for name, w := range map[string]float64{
			"balanced_accuracy": want.Balanced, "sensitivity": want.Sensitivity, "specificity": want.Specificity, "kappa": want.Kappa, "auroc": want.AUROC,
		} {
			near(name, *k.Statistic(name).Estimate, w)
		}
		offered := k.Best.BalancedAccuracy.Value
		k = calibrated("--fit", "t.json").Kinds[0]
		if got := [4]int64{k.TP, k.FP, k.FN, k.TN}; got != want.Fitted.Counts || k.Best != nil {
			t.Errorf("%s: held out %v, want %v", judge, got, want.Fitted.Counts)
		}
		near("fitted balanced_accuracy", *k.Statistic("balanced_accuracy").Estimate, want.Fitted.Balanced)
		near("offered balanced_accuracy", offered, want.Fitted.Balanced)
		near("fitted threshold", *k.Fitted.Thresholds.Supported, want.Fitted.Threshold)
		for i, w := range want.Fitted.Folds {
			near("fitted fold", *k.Fitted.Folds[i].Supported, w)
		}
	}
	four := "item,annotator,value\n1,ada,1\n1,judge,1\n2,ada,0\n2,judge,0\n3,ada,1\n3,judge,1\n4,ada,0\n4,judge,0\n"
	if err := os.WriteFile(filepath.Join(dir, "four.csv"), []byte(four), 0o666); err != nil {
		t.Fatal(err)
	}
	if out := mustIbid(t, dir, "calibrate", "four.csv", "--judge-name", "judge"); !strings.Contains(out, "undecided: about 16 items would decide by balanced_accuracy: 1.000 ") {
		t.Error(out)
	}
	_, stderr, code := command(t, dir, "calibrate", "four.csv", "--judge-name", "judge", "--fit", "four.json")
	if _, err := os.Stat(filepath.Join(dir, "four.json")); code != 4 || err == nil {
		t.Errorf("exit code %d, %v\n%s", code, err, stderr)
	}
}
