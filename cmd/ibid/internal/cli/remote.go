package cli

import (
	"github.com/spf13/cobra"

	"ibid"
	"ibid/dataset/objects"
)

// onlyHere refuses a place for results that is at a store.
func onlyHere(place string) error {
	if !objects.Is(place) && !objects.Slip(place) {
		return nil
	}
	return ibid.Usagef("%s: results go to this machine alone", place).With("name a folder or a file, and copy it when it is finished, such as with aws s3 cp --recursive")
}

// ofRuns lets a command refuse runs that are at a store before any work.
func ofRuns(cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, argument := range args {
			if err := runHere(argument); err != nil {
				return err
			}
		}
		return run(cmd, args)
	}
	return cmd
}

// runHere refuses a run that is at a store.
func runHere(dir string) error {
	if !objects.Is(dir) && !objects.Slip(dir) {
		return nil
	}
	return ibid.Usagef("%s: runs are read from folders of this machine alone", dir).With("copy it first, such as with aws s3 cp --recursive")
}
