package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// finding is something to show beside a line of the suite.
type finding struct {
	line    int
	verdict Verdict
	name    string // of what it is about
	text    string
}

// findings lists what did not pass.
func (r *Report) findings() (out []finding) {
	if r.Problem != "" {
		out = append(out, finding{1, r.Verdict, "baseline", r.Problem + " " + strings.Join(r.Advice, " ")})
	}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		add := func(v Verdict, what, text string) {
			out = append(out, finding{max(s.Line, 1), v, s.Name + what, text})
		}
		for _, p := range s.Problems {
			add(s.Verdict, "", p)
		}
		if s.Verdict == Invalid {
			continue
		}
		for k := range s.Rows {
			if row := &s.Rows[k]; row.State == Worse {
				add(Regression, " "+row.Name, fmt.Sprintf("%s went from %s to %s (%s, allowed %s).", row.Title,
					value(row.Before, row.Unit), value(row.After, row.Unit), row.change(), row.allowed()))
			}
		}
		for k := range s.Bounds {
			if b := &s.Bounds[k]; b.State == Worse {
				add(Regression, " slo "+b.Name, fmt.Sprintf("%s is %s, expected %s.", b.Title, value(b.Value, b.Unit), b.text()))
			}
		}
		if text := s.seedsText(); text != "" {
			add(BehaviourChanged, " decisions", text+" "+strings.ReplaceAll(s.reasonText(), "\n", " "))
		}
	}
	return out
}

// WriteGitHub writes workflow commands that GitHub Actions shows beside the
// lines of the suite: errors, and warnings for changes of behaviour that are
// allowed.
func WriteGitHub(w io.Writer, r *Report) error {
	b := &strings.Builder{}
	for _, f := range r.findings() {
		level := "error"
		if f.verdict == BehaviourChanged && r.Code == 0 {
			level = "warning"
		}
		fmt.Fprintf(b, "::%s file=%s,line=%d,title=%s::%s\n", level, property(r.Suite), f.line, property(f.verdict.String()+" "+f.name), message(f.text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// message escapes the text of a workflow command, property one of its
// parameters.
func message(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(message(text))
}

// quality is an entry of a GitLab code quality report.
type quality struct {
	Description string `json:"description"`
	Check       string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

// WriteGitLab writes a code quality report, which GitLab shows beside the lines
// of the suite in a merge request.
func WriteGitLab(w io.Writer, r *Report) error {
	out := []quality{}
	for _, f := range r.findings() {
		q := quality{Description: f.name + ": " + f.text, Check: f.verdict.String(), Severity: "major"}
		switch {
		case f.verdict == Invalid:
			q.Severity = "blocker"
		case f.verdict == BehaviourChanged && r.Code == 0:
			q.Severity = "info"
		case f.verdict == BehaviourChanged:
			q.Severity = "minor"
		}
		sum := sha256.Sum256([]byte(q.Check + "\n" + f.name))
		q.Fingerprint = hex.EncodeToString(sum[:16])
		q.Location.Path, q.Location.Lines.Begin = r.Suite, f.line
		out = append(out, q)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}
