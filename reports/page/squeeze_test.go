package page

import (
	"strings"
	"testing"
)

func TestSqueeze(t *testing.T) {
	const text = "\t// a remark\n\tconst a = 'x = y; // z' + `p, ${q} = r`;\n\n\t/* a line */\n\ta { b: c , d }\nif (a - -b && c) d = \"e \\\" = f\";\n"
	const want = "const a='x = y; // z'+`p, ${q} = r`;a{b:c,d}if(a- -b&&c)d=\"e \\\" = f\";"
	if got := squeeze(text, scriptSigns); got != want {
		t.Errorf("squeezed to\n%s\nexpected\n%s", got, want)
	}
	if got, want := squeeze(".a {\n color:red;\n}\n.b :is(.c, .d) > e { x:y }", styleSigns), ".a{color:red}.b :is(.c,.d)>e{x:y}"; got != want {
		t.Errorf("squeezed to %s, expected %s", got, want)
	}
	if s := pageScript(); strings.Contains(s[len(s)-200:], "; ") {
		t.Error("the end of the script is not squeezed: its quotes are not understood")
	}
	if n := strings.Count(pageScript(), "//"); n != 1 { // of SVG's name
		t.Errorf("the script has %d double slashes, expected 1: remarks must have lines of their own", n)
	}
	style, script := len(pageStyle()), len(pageScript())
	t.Logf("style %d bytes, script %d", style, script)
	if style+script > 52<<10 {
		t.Errorf("style and script have %d bytes, expected at most 52 KB", style+script)
	}
}
