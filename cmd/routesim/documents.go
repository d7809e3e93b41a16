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

// writeFiles writes the result files.
func (run *replayed) writeFiles(dir *outDir, s *reports.Summary) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"summary.json", s.Write},
		{"requests.parquet", func(w io.Writer) error { return columnar.WriteRequests(w, run.trace, run.config, run.result) }},
		{"workers.parquet", func(w io.Writer) error { return columnar.WriteWorkers(w, run.config, run.result) }},
	} {
		if err := dir.add(f.name, f.write); err != nil {
			return err
		}
	}
	return dir.commit()
}
