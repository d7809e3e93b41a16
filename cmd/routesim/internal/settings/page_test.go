package settings

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// pageFile describes every setting; its tables are derived from the table of
// settings. ROUTESIM_UPDATE=1 rewrites them.
const pageFile = "README.md"

const (
	pageBegin = "<!-- derived from the table of settings: begin -->\n"
	pageEnd   = "<!-- derived from the table of settings: end -->\n"
)

func TestPageListsEverySetting(t *testing.T) {
	text, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(text), pageBegin)
	_, tail, ok2 := strings.Cut(rest, pageEnd)
	if !ok1 || !ok2 {
		t.Fatal("the marks around the derived part are missing")
	}
	want := head + pageBegin + derivedPage() + pageEnd + tail
	if want == string(text) {
		return
	}
	if os.Getenv("ROUTESIM_UPDATE") == "" {
		t.Fatalf("%s is not what the table says; run the test with ROUTESIM_UPDATE=1", pageFile)
	}
	if err := os.WriteFile(pageFile, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// derivedPage is the part of the page that follows from the table.
func derivedPage() string {
	var b strings.Builder
	table := NewTable()
	for _, g := range Groups() {
		fmt.Fprintf(&b, "\n### %s\n\n| flag | values | default | variable | Dynamo's name |\n|---|---|---|---|---|\n", g)
		for _, s := range table.All() {
			if s.Group == g && s.Support == Honoured {
				fmt.Fprintf(&b, "| `--%s` | %s | %s | %s | %s |\n", s.Name, pageCell(s.Kind.Expected()+inUnit(s.Unit)), s.Default, codes(s.Env), codes(dynamoNames(s)))
			}
		}
	}
	fmt.Fprintf(&b, "\n### Settings of a group\n\n%s\n", codes(groupFields()))
	b.WriteString("\n### Refused\n\n| name | accepted | variable | why |\n|---|---|---|---|\n")
	for _, s := range table.All() {
		if s.Support == Refused {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Name, s.Default, codes(s.Env), pageCell(s.Why))
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// dynamoNames are the names under which Dynamo and its replay know a setting.
func dynamoNames(s *Setting) []string {
	names := s.Aliases
	if s.Field != "" {
		names = append(names[:len(names):len(names)], s.Field)
	}
	if s.Dict != "" {
		names = append(names[:len(names):len(names)], s.Dict)
	}
	return names
}

func codes(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "`" + w + "`"
	}
	return strings.Join(out, ", ")
}

func pageCell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
