package page

import "testing"

func TestSqueeze(t *testing.T) {
	const text = "\t// a remark\n\tconst a = 'x = y; // z' + `p, ${q} = r`;\n\n\t/* a line */\n\ta { b: c , d }\nif (a - -b && c) d = \"e \\\" = f\";\n"
	const want = "const a='x = y; // z'+`p, ${q} = r`;a{b:c,d}\nif(a- -b&&c)d=\"e \\\" = f\";"
	if got := squeeze(text, scriptSigns); got != want {
		t.Errorf("squeezed to\n%s\nexpected\n%s", got, want)
	}
	if n := len(shortNames(squeeze(styleText, styleSigns))) + len(squeeze(plotsText+scriptText, scriptSigns)); n > 45<<10 {
		t.Errorf("style and script have %d bytes, expected at most 45 KB", n)
	}
}
