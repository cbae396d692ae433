package cli

import (
	"fmt"
	"io"
	"runtime"

	"ibid/report"
)

// writeVersion prints the version of the program, of Go and the platform.
func (a *app) writeVersion() error {
	if err := a.formats("text", "json"); err != nil {
		return err
	}
	return a.write(func(w io.Writer) error {
		if a.format == "json" {
			return report.WriteJSON(w, map[string]string{
				"schema": "ibid.version/v1", "version": a.Version, "go": runtime.Version(),
				"platform": runtime.GOOS + "/" + runtime.GOARCH,
			})
		}
		_, err := fmt.Fprintf(w, "ibid %s (%s, %s/%s)\n", a.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	})
}
