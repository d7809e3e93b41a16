package npz

import (
	"fmt"
	"strconv"
	"strings"
)

// header is what a .npy header says: a Python dictionary of three entries.
type header struct {
	descr   string
	fortran bool
	shape   []int
}

// parseHeader reads a dictionary such as
// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }.
func parseHeader(text string) (header, error) {
	var h header
	body := strings.TrimSpace(text)
	body, ok := strings.CutPrefix(body, "{")
	if ok {
		body, ok = strings.CutSuffix(body, "}")
	}
	if !ok {
		return h, fmt.Errorf("found the header %q, expected a dictionary in braces", text)
	}
	seen := map[string]bool{}
	for body = strings.TrimSpace(body); body != ""; {
		key, rest, err := quotedWord(body)
		if err != nil {
			return h, err
		}
		if rest, ok = strings.CutPrefix(strings.TrimSpace(rest), ":"); !ok {
			return h, fmt.Errorf("found no colon after %q in the header, expected one", key)
		}
		if rest, err = h.set(key, strings.TrimSpace(rest)); err != nil {
			return h, err
		}
		if seen[key] {
			return h, fmt.Errorf("found %q twice in the header, expected it once", key)
		}
		seen[key] = true
		body = strings.TrimSpace(rest)
		if body == "" {
			break
		}
		if body, ok = strings.CutPrefix(body, ","); !ok {
			return h, fmt.Errorf("found %q in the header, expected a comma", body)
		}
		body = strings.TrimSpace(body)
	}
	for _, key := range [...]string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return h, fmt.Errorf("found no %q in the header, expected one", key)
		}
	}
	return h, nil
}

// set reads the value of one key and returns the text after it.
func (h *header) set(key, text string) (rest string, err error) {
	switch key {
	case "descr":
		if !strings.HasPrefix(text, "'") && !strings.HasPrefix(text, `"`) {
			return "", fmt.Errorf("found a structured element type in the header, expected plain numbers")
		}
		h.descr, rest, err = quotedWord(text)
		return rest, err
	case "fortran_order":
		for _, word := range [...]string{"True", "False"} {
			if rest, ok := strings.CutPrefix(text, word); ok {
				h.fortran = word == "True"
				return rest, nil
			}
		}
		return "", fmt.Errorf("found fortran_order %q in the header, expected True or False", text)
	case "shape":
		h.shape, rest, err = tuple(text)
		return rest, err
	}
	return "", fmt.Errorf("found the key %q in the header, expected descr, fortran_order or shape", key)
}

// quotedWord reads a Python string without escapes.
func quotedWord(text string) (word, rest string, err error) {
	if text != "" && (text[0] == '\'' || text[0] == '"') {
		if word, rest, ok := strings.Cut(text[1:], text[:1]); ok {
			return word, rest, nil
		}
	}
	return "", "", fmt.Errorf("found %q in the header, expected a quoted word", text)
}

// tuple reads a Python tuple of lengths: (), (3,) or (3, 2).
func tuple(text string) (shape []int, rest string, err error) {
	body, ok := strings.CutPrefix(text, "(")
	if ok {
		body, rest, ok = strings.Cut(body, ")")
	}
	if !ok {
		return nil, "", fmt.Errorf("found shape %q in the header, expected a tuple", text)
	}
	shape = []int{}
	for part := range strings.SplitSeq(body, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil || len(shape) == 8 {
			return nil, "", fmt.Errorf("found shape (%s) in the header, expected up to 8 lengths", body)
		}
		shape = append(shape, int(n))
	}
	return shape, rest, nil
}
