package settings

import (
	"strings"
	"testing"
)

// TestTopologyDomain: prefill workers hand on their own value of the domain, which
// decode workers must have, or had better.
func TestTopologyDomain(t *testing.T) {
	const timing, domain = "--timing=dynamo-polynomial", "--kv-transfer-domain=zone"
	const zones = "--prefill-workers=2@taints=fast+dynamo.topology/zone=a,1@taints=dynamo.topology/zone=b"
	for _, c := range []struct {
		args      []string
		want      [2]string
		preferred float64
	}{
		{[]string{zones, domain}, [2]string{"dynamo.topology/zone=a", "dynamo.topology/zone=b"}, 0},
		{[]string{zones, domain, "--kv-transfer-enforcement=preferred", "--kv-transfer-preferred-weight=0.85"}, [2]string{"dynamo.topology/zone=a", "dynamo.topology/zone=b"}, 0.85},
		{[]string{zones}, [2]string{}, 0},
	} {
		r := mustResolve(t, Input{}, append(c.args, timing)...)
		fleet, err := r.Run.PrefillFleet()
		if err != nil {
			t.Fatal(err)
		}
		for i := range fleet {
			x := &fleet[i].Transfer
			if x.Taint != c.want[i] || (x.Weight != nil) != (c.preferred > 0) || x.Weight != nil && *x.Weight != c.preferred {
				t.Errorf("%v: group %d hands on %q, weight %v", c.args, i, x.Taint, x.Weight)
			}
		}
		if decode, err := r.Run.Fleet(); err != nil || decode[0].Transfer.Taint != "" {
			t.Errorf("decode workers hand on %q, %v", decode[0].Transfer.Taint, err)
		}
	}
	for want, args := range map[string][]string{
		"expected workers with a taint dynamo.topology/rack=VALUE (taints) in group 1 of prefill-workers": {zones, "--kv-transfer-domain=rack"},
		"found preferred without kv-transfer-preferred-weight, expected both":                             {zones, domain, "--kv-transfer-enforcement=preferred"},
	} {
		_, err := mustResolve(t, Input{}, append(args, timing)...).Run.PrefillFleet()
		wantPart(t, err, want)
	}
	_, err := resolveWith(t, Input{}, "--kv-transfer-domain=zone=a")
	wantPart(t, err, "--kv-transfer-domain: found zone=a, expected the name of a topology domain")
	for want, args := range map[string][]string{
		"kv-transfer-domain has no effect: there is no transfer in aggregated serving":   {domain},
		"kv-transfer-domain has no effect: only a kv router looks at taints":             {domain, zones, "--router-mode=random"},
		"kv-transfer-domain has no effect: with sglang the decode worker is":             {domain, zones, "--engine-type=sglang"},
		"kv-transfer-enforcement has no effect without kv-transfer-domain":               {zones, "--kv-transfer-enforcement=preferred"},
		"kv-transfer-preferred-weight has no effect: it needs kv-transfer-enforcement p": {domain, zones, "--kv-transfer-preferred-weight=0.5"},
	} {
		wantWarning(t, mustResolve(t, Input{}, append(args, timing)...), want)
	}
}

// TestStrandedPrefillWorkers: groups of prefill workers whose KV no decode worker may
// take are named where the value is required.
func TestStrandedPrefillWorkers(t *testing.T) {
	const zones = "--prefill-workers=2@taints=fast+dynamo.topology/zone=a,1@taints=dynamo.topology/zone=b"
	for _, c := range []struct {
		args []string
		a, b bool // each group is stranded
	}{
		{nil, true, true},
		{[]string{"--decode-workers=1,1@taints=fast+dynamo.topology/zone=a"}, false, true},
		{[]string{"--decode-workers=1@taints=dynamo.topology/zone=b,1@taints=dynamo.topology/zone=a"}, false, false},
		{[]string{"--decode-workers=1@taints=dynamo.topology/rack=b"}, true, true},
		{[]string{"--kv-transfer-enforcement=preferred", "--kv-transfer-preferred-weight=0.5"}, false, false},
		{[]string{"--router-mode=random"}, false, false},
	} {
		r := mustResolve(t, Input{}, append(c.args, zones, "--kv-transfer-domain=zone", "--timing=dynamo-polynomial")...)
		text := strings.Join(r.Warnings, "\n")
		a := strings.Contains(text, "no decode worker has the taint dynamo.topology/zone=a, which kv-transfer-domain requires for KV of group 1 of")
		b := strings.Contains(text, "no decode worker has the taint dynamo.topology/zone=b, which kv-transfer-domain requires for KV of group 2 of")
		if a != c.a || b != c.b {
			t.Errorf("%v: warnings %q, expected of the groups %v and %v", c.args, text, c.a, c.b)
		}
	}
}
