package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"routesim/workloads"
)

// Held names a file that a ConfigMap of a manifest holds.
type Held struct {
	File string // the manifest
	Name string // the ConfigMap, NAMESPACE/NAME where it has a namespace
	Key  string // of its data
}

// String is the path that ReadFile takes: MANIFEST#CONFIGMAP/KEY.
func (h Held) String() string { return h.File + "#" + h.Name + "/" + h.Key }

// held takes a path apart that String has put together.
func held(path string) (Held, bool) {
	file, inside, ok := strings.Cut(path, "#")
	slash := strings.LastIndexByte(inside, '/')
	if !ok || slash < 1 || file == "" {
		return Held{}, false
	}
	return Held{file, inside[:slash], inside[slash+1:]}, true
}

// ReadFile reads a file, or one that a ConfigMap holds (MANIFEST#CONFIGMAP/KEY).
// The name is that of the file in which its text really stands, and the text
// begins with so many empty lines that its lines have the numbers of that file.
func ReadFile(path string) (name string, text []byte, err error) {
	text, err = os.ReadFile(path)
	h, ok := held(path)
	if err == nil || !ok || !errors.Is(err, fs.ErrNotExist) {
		return path, text, err
	}
	whole, err := os.ReadFile(h.File)
	if err != nil {
		return path, nil, err
	}
	objects, err := Parse(h.File, whole)
	if err != nil {
		return path, nil, err
	}
	namespace, mapName := "", h.Name
	if space, name, ok := strings.Cut(h.Name, "/"); ok {
		namespace, mapName = space, name
	}
	o := FindConfigMap(objects, namespace, mapName)
	if o == nil {
		return path, nil, &workloads.Problem{File: h.File, Found: "no ConfigMap " + h.Name, Want: "the one that " + path + " names"}
	}
	text, err = o.Content(h.Key)
	return h.File, text, err
}

// Content is the text of a ConfigMap's key after so many empty lines that its
// lines have the numbers of the manifest.
func (o *Object) Content(key string) ([]byte, error) {
	v := o.Get("data", key)
	text, ok := v.Text()
	if !ok && v.Exists() {
		return nil, v.Problem("data."+key, v.Kind(), "a text, as in "+key+": |")
	}
	if !ok {
		return nil, o.Problem("data."+key, "no such key in "+o.String(), fmt.Sprintf("one of its keys (%s)", strings.Join(o.Keys(), ", ")))
	}
	return append(bytes.Repeat([]byte("\n"), v.TextLine()-1), text...), nil
}
