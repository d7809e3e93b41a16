// Package manifest reads Kubernetes manifests: YAML documents whose values know
// their file and line, and the files that ConfigMaps hold.
package manifest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"routesim/workloads"
)

// Object is a Kubernetes object.
type Object struct {
	Node                              // the whole object
	APIVersion, Kind, Namespace, Name string
}

// Place is where the object begins, as file:line.
func (o *Object) Place() string { return fmt.Sprintf("%s:%d", o.File, o.Line()) }

// String names the object as people do.
func (o *Object) String() string {
	switch {
	case o.Kind == "":
		return "a document without kind"
	case o.Name == "":
		return o.Kind
	case o.Namespace == "":
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// maxBytes is the largest manifest that is read, in bytes. The API server takes
// far less.
const maxBytes = 16 << 20

// Load reads the objects of a file, or of every .yaml and .yml file of a folder
// in the order of their names.
func Load(path string) ([]Object, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := []string{path}
	if info.IsDir() {
		if files, err = filesOf(path); err != nil {
			return nil, err
		}
	}
	var objects []Object
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		if info.Size() > maxBytes {
			return nil, &workloads.Problem{File: file, Found: fmt.Sprintf("%d bytes", info.Size()), Want: fmt.Sprintf("a manifest of at most %d", maxBytes)}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		more, err := Parse(file, text)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

func filesOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		ext := strings.ToLower(filepath.Ext(e.Name()))
		if (ext == ".yaml" || ext == ".yml") && !e.IsDir() {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, &workloads.Problem{File: dir, Found: "no .yaml or .yml file", Want: "Kubernetes manifests"}
	}
	return files, nil
}

// Parse reads the objects of a text. The items of a list are objects of their
// own.
func Parse(file string, text []byte) ([]Object, error) {
	roots, err := parse(file, text)
	if err != nil {
		return nil, err
	}
	var objects []Object
	for _, root := range roots {
		objects = appendObjects(objects, root, true)
	}
	return objects, nil
}

func appendObjects(objects []Object, root Node, lists bool) []Object {
	text := func(keys ...string) string {
		t, _ := root.Get(keys...).Text()
		return t
	}
	o := Object{root, text("apiVersion"), text("kind"), text("metadata", "namespace"), text("metadata", "name")}
	if items, ok := root.Get("items").Items(); lists && ok && strings.HasSuffix(o.Kind, "List") {
		for _, item := range items {
			objects = appendObjects(objects, item, false)
		}
		return objects
	}
	return append(objects, o)
}

// Unique refuses an object that is there twice: which of them counts would
// depend on the order in which they are applied.
func Unique(objects []Object) error {
	first := map[[4]string]*Object{}
	for i := range objects {
		o := &objects[i]
		group, _, _ := strings.Cut(o.APIVersion, "/")
		key := [4]string{group, o.Kind, o.Namespace, o.Name}
		if o.Kind == "" || o.Name == "" {
			continue
		}
		if old := first[key]; old != nil {
			return o.Problem("metadata.name", fmt.Sprintf("%s, which %s has too", o, old.Place()), "each object once")
		}
		first[key] = o
	}
	return nil
}

// FindConfigMap returns the ConfigMap of a name. Where a namespace is known on
// both sides, it has to be the same.
func FindConfigMap(objects []Object, namespace, name string) *Object {
	for i := range objects {
		o := &objects[i]
		same := namespace == "" || o.Namespace == "" || o.Namespace == namespace
		if o.Kind == "ConfigMap" && o.Name == name && same {
			return o
		}
	}
	return nil
}

// Keys lists the keys of a ConfigMap's data in alphabetical order.
func (o *Object) Keys() []string {
	entries, _ := o.Get("data").Entries()
	var keys []string
	for _, e := range entries {
		keys = append(keys, e.Key)
	}
	slices.SortFunc(keys, cmp.Compare[string])
	return keys
}
