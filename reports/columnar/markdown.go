package columnar

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the list of all columns as a Markdown page.
func WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(`# Columns of the result files

Times are virtual, in ms from the start of the run. An absent value is null in
Parquet and empty in CSV. Equal runs give equal bytes.

`)
	b.WriteString("## requests.parquet\n\nA row per request of the trace, in file order. `--format csv` prints the same\ntable. The names in the upper part are those of Dynamo's replay report.\n\n")
	writeColumns(&b, Requests())
	b.WriteString("\n## workers.parquet\n\nA row per worker, by number; with pools the decode workers.\n\n")
	writeColumns(&b, Workers())
	_, err := io.WriteString(w, b.String())
	return err
}

func writeColumns[R any](b *strings.Builder, columns []Column[R]) {
	b.WriteString("| Column | Type | Unit | Meaning |\n|---|---|---|---|\n")
	for i := range columns {
		c := &columns[i]
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", c.Name, c.kind, c.Unit, c.Doc)
	}
}
