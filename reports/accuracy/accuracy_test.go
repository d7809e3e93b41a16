package accuracy

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// update rewrites the committed tables: UPDATE_ACCURACY=1 go test.
const update = "UPDATE_ACCURACY"

func TestCommittedTable(t *testing.T) {
	rows, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Compare(context.Background(), rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := r.WriteMarkdown(&got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "models", "published", "ACCURACY.md")
	if os.Getenv(update) != "" {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the committed table differs from the simulation; run the test with %s=1 and look at the difference\n%s", update, got.String())
	}
	for _, d := range r.Dropped {
		if d.Usable {
			t.Errorf("row %s: a usable row of a shipped profile was left out: %s", d.Row.Name, d.Reason)
		}
	}
	r.WriteText(os.Stdout)
}
