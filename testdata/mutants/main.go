// Command mutants shows that the gate's suite notices faults and that luck does
// not trip it. It builds the program with one rule broken at a time, runs the
// suite of testdata/gate with each, and then the program itself with shifted
// seeds.
//
// Run it from the top of the repository. With -write it puts its table into
// testdata/mutants/README.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
)

func main() {
	quick := flag.Bool("quick", false, "run each mutant on the one scenario that is to catch it")
	shifts := flag.Int("offsets", 200, "number of shifted seeds to try the suite with")
	write := flag.Bool("write", false, "write the table into testdata/mutants/README.md")
	only := flag.String("only", "", "prove only the mutant of this name")
	flag.Parse()
	if err := run(*quick, *shifts, *write, *only); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(quick bool, shifts int, write bool, only string) error {
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, "testdata", "gate", "gate.yaml")); err != nil {
		return fmt.Errorf("%w: run this from the top of the repository", err)
	}
	dir, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "routesim")
	if err := goBuild(root, program); err != nil {
		return err
	}
	if r, code, err := gate(program, root); err != nil || code != codePass {
		return fmt.Errorf("the program itself does not pass the suite (code %d, %v, %+v): mend that first", code, err, r)
	}
	luck := make(chan error, 1)
	if only == "" {
		go func() { luck <- offsets(program, root, shifts) }() // while mutants are built
	}
	list := mutants()
	known := len(list)
	list = append(list, blindMutants()...)
	if only != "" {
		list = slices.DeleteFunc(list, func(m mutant) bool { return m.name != only })
	}
	var found, blind []*finding
	failed := 0
	for i, p := range proveAll(list, root, dir, quick) {
		r := <-p
		if r.err != nil {
			failed++
			fmt.Println("MISSED", r.err)
			continue
		}
		what := "caught"
		if len(r.finding.caught) == 0 {
			what = "unseen"
		}
		fmt.Printf("%s %-30s %-18s %s\n", what, list[i].name, r.finding.verdict, strings.Join(r.finding.caught, " "))
		if i < known {
			found = append(found, r.finding)
		} else {
			blind = append(blind, r.finding)
		}
	}
	if only == "" {
		if err := <-luck; err != nil {
			return err
		}
		fmt.Printf("%d shifts of the seeds: none is taken for a regression\n", shifts)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d mutants were not caught or could not be tried", failed, len(list))
	}
	if write && !quick && only == "" {
		return writePage(root, found, blind, shifts)
	}
	return nil
}

// proof is what came of a mutant.
type proof struct {
	finding *finding
	err     error
}

// proveAll proves mutants, as many at once as there are cores, and returns where
// each one's proof will arrive.
func proveAll(list []mutant, root, dir string, quick bool) []chan proof {
	out := make([]chan proof, len(list))
	for i := range out {
		out[i] = make(chan proof, 1)
	}
	var next atomic.Int64
	for range runtime.NumCPU() {
		go func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				f, err := list[i].prove(root, dir, quick)
				os.Remove(filepath.Join(dir, list[i].name))
				out[i] <- proof{f, err}
			}
		}()
	}
	return out
}

// The lines of the page between which the table stands.
const (
	tableBegins = "<!-- table -->"
	tableEnds   = "<!-- end of table -->"
)

// writePage puts the table of a whole proof into the page.
func writePage(root string, found, blind []*finding, shifts int) error {
	name := filepath.Join(root, "testdata", "mutants", "README.md")
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(b), tableBegins)
	_, tail, ok2 := strings.Cut(rest, tableEnds)
	if !ok || !ok2 {
		return fmt.Errorf("%s: found no lines %s and %s, expected both", name, tableBegins, tableEnds)
	}
	return os.WriteFile(name, []byte(head+tableBegins+"\n"+table(found, shifts)+blindTable(blind)+tableEnds+tail), 0o644)
}

// table is the result of a proof in Markdown.
func table(found []*finding, shifts int) string {
	return rows(found) + fmt.Sprintf("\n%d mutants, all caught. %d shifts of the seeds of the program itself, with decisions left alone: none is a regression.\n", len(found), shifts)
}

// blindTable is the result for the mutants whose author had not seen the suite.
func blindTable(blind []*finding) string {
	caught := 0
	for _, f := range blind {
		if len(f.caught) > 0 {
			caught++
		}
	}
	return "\nFaults whose author had not seen the suite, as they were written first:\n\n" + rows(blind) +
		fmt.Sprintf("\n%d of these %d are caught.\n", caught, len(blind))
}

// rows is a table of findings in Markdown.
func rows(found []*finding) string {
	b := &strings.Builder{}
	b.WriteString("| mutant | rule | verdict | scenarios that notice it | with a worse metric |\n|---|---|---|---|---|\n")
	for _, f := range found {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", f.mutant.name, f.mutant.rule, f.verdict, names(f.caught), names(f.worse))
	}
	return b.String()
}

// names lists scenarios, "-" for none.
func names(list []string) string {
	if len(list) == 0 {
		return "-"
	}
	return strings.Join(list, ", ")
}
