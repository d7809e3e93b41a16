package settings

import (
	"testing"

	"github.com/spf13/pflag"
)

// TestFrontendFlagsArePasted takes a frontend's command line, names what it
// leaves out and no setting twice.
func TestFrontendFlagsArePasted(t *testing.T) {
	table := NewTable()
	fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
	rec := table.Flags(fs)
	pasted := rec.FrontendFlags(table, fs, []string{"http-port", "namespace", "model-name"}, []string{"interactive"})
	if got := pasted.Warning(); got != "" {
		t.Errorf("found %q before anything is given, expected nothing", got)
	}
	err := fs.Parse([]string{"--http_port", "8000", "--http-port=1", "--interactive", "--kv-cache-block-size", "32", "--model-name", "m"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := pasted.Warning(), "--http-port and --interactive of Dynamo's frontend have no effect on a replay"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
	if len(rec.Given) != 2 || rec.Given[0].Setting.Name != "block-size" || rec.Given[0].Text != "32" || rec.Given[1].Setting.Name != "model-name" {
		t.Errorf("found %v, expected block-size and model-name", rec.Given)
	}
}

// TestOnce refuses a second value, whatever the kind of the flag.
func TestOnce(t *testing.T) {
	fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
	fs.Int("n", -1, "")
	fs.String("s", "", "")
	Once(fs, "n", "s")
	wantError(t, FlagError(fs, fs.Parse([]string{"--n", "1", "--s", "a", "--n", "2"})), "--n: found 1 and 2, expected one of them")
	if n, err := fs.GetInt("n"); n != 1 || err != nil {
		t.Errorf("found %d (%v), expected the first value 1", n, err)
	}
	wantError(t, FlagError(fs, fs.Parse([]string{"--s="})), `--s: found a and "", expected one of them`)
}
