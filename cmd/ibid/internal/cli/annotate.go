package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/round"
	"ibid/cmd/ibid/internal/annotate"
	"ibid/cmd/ibid/internal/loopback"
	"ibid/dataset/disk"
	"ibid/report"
)

type annotateFlags struct {
	annotator string
	port      int
	decide    bool
}

func (a *app) annotateCommand() *cobra.Command {
	f := &annotateFlags{}
	cmd := &cobra.Command{
		Use:   "annotate DIR --annotator NAME",
		Short: "mark places and label claims in the browser",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.serveAnnotation(cmd, f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.annotator, "annotator", "", "who annotates: the name of the file")
	flags.IntVar(&f.port, "port", 0, "port on 127.0.0.1; 0 is that of the last time, else a free one")
	flags.BoolVar(&f.decide, "decide", false, "decide between several annotators")
	return cmd
}

func (a *app) serveAnnotation(cmd *cobra.Command, f *annotateFlags, dir string) error {
	if err := round.CheckName(f.annotator); err != nil {
		return err
	}
	if !exists(dir) {
		return ibid.Usagef("%s: no such file or directory", dir).With("annotate what ibid sample wrote")
	}
	r, err := round.Open(dir)
	if err != nil {
		return err
	}
	if err := r.Header.CheckAnnotator(f.annotator, f.decide); err != nil {
		return err
	}
	for _, text := range r.Warnings {
		a.warn("%s", text)
	}
	role, command := round.Annotator, fmt.Sprintf("ibid annotate %s --annotator %s", dir, f.annotator)
	if f.decide {
		role, command = round.Decider, command+" --decide"
	}
	marks, err := r.OpenMarks(f.annotator, role)
	if errors.Is(err, disk.ErrHeld) {
		return ibid.Usagef("%s annotates here already: %w", f.annotator, err).With("go on in the page that is open, or choose another name")
	}
	if err != nil {
		return err
	}
	defer marks.Close()
	pages, err := annotate.NewServer(r, marks, f.annotator, command, f.decide)
	if err != nil {
		return ibid.Usagef("%s: %w", dir, err).With("put the files of the annotators there: ada.jsonl, ben.jsonl")
	}
	if f.decide {
		fmt.Fprintf(a.Stdout, "%s to decide\n", report.Plural(int64(pages.Places()), "item", "items"))
	}
	server, err := listenAgain(filepath.Join(dir, "."+f.annotator+".address"), f.port)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "open %s\n", server.URL())
	if err := server.Serve(cmd.Context(), pages); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %d of %s open\n", marks.Path(), pages.Left(), report.Plural(int64(pages.Places()), "item", "items"))
	return err
}

// listenAgain listens at the address of the last time, which a file has, so that a page that
// is open goes on; if that cannot be, or a port is asked for, at a new one.
func listenAgain(file string, port int) (*loopback.Server, error) {
	var server *loopback.Server
	err := errors.New("there is no address of the last time")
	if last, readErr := os.ReadFile(file); readErr == nil && port == 0 {
		server, err = loopback.Reopen(strings.TrimSpace(string(last)))
	}
	if err != nil {
		server, err = loopback.Listen(port)
	}
	if err != nil {
		return nil, &ibid.Error{Usage: true, Err: err, Hint: "--port 0 takes a free one"}
	}
	return server, os.WriteFile(file, []byte(server.URL()+"\n"), 0o600)
}
