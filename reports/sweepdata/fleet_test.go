package sweepdata

import "testing"

func TestWorkersText(t *testing.T) {
	for _, c := range []struct {
		base map[string]any
		want string
	}{
		{map[string]any{"workers": int64(8), "prefill-workers": int64(2), "decode-workers": int64(3)}, "2 prefill and 3 decode workers"},
		{map[string]any{"workers": int64(8), "prefill-workers": "2,1@max_num_seqs=4", "decode-workers": int64(3)}, "2,1@max_num_seqs=4 prefill and 3 decode workers"},
		{map[string]any{"workers": int64(8), "prefill-workers": nil, "decode-workers": nil}, "8 workers"},
		{map[string]any{"workers": int64(8), "prefill-workers": "none"}, "8 workers"},
		{map[string]any{"workers": int64(1)}, "1 worker"},
		{map[string]any{"workers": "4xa,2xb"}, "4xa,2xb workers"},
		{nil, ""},
	} {
		if got := (&Sweep{Base: c.base}).WorkersText(); got != c.want {
			t.Errorf("%v: found %q, expected %q", c.base, got, c.want)
		}
	}
}
