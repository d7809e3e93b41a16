package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// KindOf names the values of a type as people do, with an article.
func KindOf(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return KindOf(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number of at least 0"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "keys with values"
	}
	return "something else"
}

// Malformed says what is wrong with a JSON document without the names that the
// program has for its parts.
func Malformed(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		found := map[string]string{"string": "a text", "number": "a number", "object": "keys with values", "array": "a list", "bool": "true or false"}[wrong.Value]
		if found == "" {
			found = wrong.Value
		}
		text := fmt.Sprintf("found %s, expected %s", found, KindOf(wrong.Type))
		if field := keysOf(wrong.Field); field != "" {
			text = field + ": " + text
		}
		return text
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// keysOf leaves out of a path the parts that are no keys of the document: types
// within types, which begin with a capital letter as no key does.
func keysOf(path string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(path, "."), func(part string) bool {
		return part != "" && part[0] >= 'A' && part[0] <= 'Z'
	}), ".")
}
