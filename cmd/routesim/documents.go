package main

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"routesim/reports"
	"routesim/reports/columnar"
	"routesim/reports/table"
)

// writeDocument writes the one document of standard output.
func (run *replayed) writeDocument(w io.Writer, format string, s *reports.Summary, environ []string) error {
	switch format {
	case "json":
		return s.Write(w)
	case "csv":
		return columnar.WriteRequestsCSV(w, run.trace, run.config, run.result)
	}
	return table.Run(w, s, terminal(w, environ))
}

// terminal finds out what can be shown on w: plain ASCII unless it is a
// terminal. The environment's own word is heeded: NO_COLOR and a dumb terminal
// switch colour off, and the locale tells whether the terminal knows UTF-8.
func terminal(w io.Writer, environ []string) table.Options {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return table.Options{}
	}
	return terminalOptions(environ)
}

func terminalOptions(environ []string) table.Options {
	vars := map[string]string{}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		vars[name] = value
	}
	locale := vars["LANG"]
	for _, name := range []string{"LC_CTYPE", "LC_ALL"} { // the last one wins
		if vars[name] != "" {
			locale = vars[name]
		}
	}
	locale = strings.ToLower(strings.ReplaceAll(locale, "-", ""))
	return table.Options{
		UTF8:  strings.Contains(locale, "utf8"),
		Color: vars["NO_COLOR"] == "" && vars["TERM"] != "dumb",
	}
}

// runFiles are the result files of a run.
func runFiles() []string { return []string{"summary.json", "requests.parquet", "workers.parquet"} }

// writeFiles adds the result files, their names after the prefix.
func (run *replayed) writeFiles(dir *outDir, prefix string, s *reports.Summary) error {
	names := runFiles()
	for i, write := range [...]func(io.Writer) error{
		s.Write,
		func(w io.Writer) error { return columnar.WriteRequests(w, run.trace, run.config, run.result) },
		func(w io.Writer) error { return columnar.WriteWorkers(w, run.config, run.result) },
	} {
		if err := dir.add(prefix+names[i], write); err != nil {
			return err
		}
	}
	return nil
}
