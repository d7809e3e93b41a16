package settings

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// TestEmptyTextIsNoValue derives its cases from the table: wherever a setting can
// be given, an empty text stands for no value where it can have none, as the word
// for it does, and is an error everywhere else.
func TestEmptyTextIsNoValue(t *testing.T) {
	table := NewTable()
	for _, s := range table.All() {
		if s.Support != Honoured {
			continue
		}
		none, ok := s.Kind.Parse(None)
		optional := ok && (none.None || none.Text == None)
		for _, c := range waysToGive(s) {
			t.Run(s.Name+" "+c.name, func(t *testing.T) {
				got, err := c.give(t, "")
				switch {
				case optional:
					want, wantErr := c.give(t, None)
					if fmt.Sprint(got, err) != fmt.Sprint(want, wantErr) {
						t.Errorf("an empty text gives %s, %v, %s gives %s, %v", got, err, None, want, wantErr)
					}
				case err == nil || !strings.Contains(err.Error(), `""`):
					t.Errorf("an empty text gives %s, %v, expected an error", got, err)
				}
			})
		}
	}
}

// wayToGive gives a setting a text and returns its value.
type wayToGive struct {
	name string
	give func(t *testing.T, text string) (string, error)
}

// waysToGive lists where a setting can be given.
func waysToGive(s *Setting) []wayToGive {
	with := func(name string, in func(t *testing.T, text string) (Input, []string)) wayToGive {
		return wayToGive{name, func(t *testing.T, text string) (string, error) {
			input, args := in(t, text)
			r, err := resolveWith(t, input, append(companions(t, s), args...)...)
			if err != nil {
				return "", sameFile(err)
			}
			got, _ := value(t, r, s.Name)
			return got, nil
		}}
	}
	flag := func(name string) func(t *testing.T, text string) (Input, []string) {
		return func(_ *testing.T, text string) (Input, []string) { return Input{}, []string{"--" + name + "=" + text} }
	}
	ways := []wayToGive{
		with("flag", flag(s.Name)),
		with("file", func(t *testing.T, text string) (Input, []string) {
			return Input{ConfigFile: writeFile(t, "c.yaml", s.Name+": "+strconv.Quote(text)+"\n")}, nil
		}),
	}
	for _, name := range s.Env {
		ways = append(ways, with(name, func(_ *testing.T, text string) (Input, []string) {
			return Input{Environ: []string{name + "=" + text}}, nil
		}))
	}
	if s.Dict != "" && s.Dict != "engine.timing_model" { // an object there
		ways = append(ways, with("dictionary", func(_ *testing.T, text string) (Input, []string) {
			return Input{EngineArgs: nest(s.Dict, strconv.Quote(text))}, nil
		}))
	}
	if s.Router {
		ways = append(ways, with("policy file", func(t *testing.T, text string) (Input, []string) {
			return Input{}, []string{"--router-policy-config=" + writeFile(t, "p.yaml", "router:\n  "+s.dynamoField()+": "+strconv.Quote(text)+"\n")}
		}))
	}
	if _, ok := groupSettings()[snake(s.Name)]; ok {
		ways = append(ways, with("group of workers", func(_ *testing.T, text string) (Input, []string) {
			return Input{}, []string{"--workers=2@" + snake(s.Name) + "=" + text}
		}))
	}
	return ways
}

// sameFile leaves out of an error where a temporary file lies.
func sameFile(err error) error {
	text := err.Error()
	if i := strings.Index(text, ".yaml:"); i >= 0 {
		text = text[i:]
	}
	return errors.New(text)
}
