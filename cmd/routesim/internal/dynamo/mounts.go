package dynamo

import (
	"path"
	"strings"

	"routesim/cmd/routesim/internal/manifest"
)

// mountedFile is a file of a container that a ConfigMap holds.
type mountedFile struct {
	held manifest.Held
	text []byte // its lines have the numbers of the manifest
}

// mounted finds the file that a path of a component's container stands for: a
// key of a ConfigMap among the manifests. The fault says why there is none, and
// what to do instead.
func (g *graph) mounted(c *component, file, field, instead string, from place) (*mountedFile, error) {
	mount, inside := c.mount(file)
	if !mount.Exists() {
		return nil, from.problem(field, show(file)+", a path of the container's image", "one under a volumeMount of a ConfigMap"+instead)
	}
	name, _ := mount.Get("name").Text()
	volume, mapName := c.volume(name)
	if mapName == "" {
		return nil, from.problem(field, show(file)+" on the volume "+show(name)+" (mounted at "+at(mount).String()+"), which is not one of a ConfigMap", "a ConfigMap's"+instead)
	}
	o := manifest.FindConfigMap(g.objects, g.object.Namespace, mapName)
	if o == nil {
		return nil, from.problem(field, show(file)+" of the ConfigMap "+mapName+", which is not among the manifests", "it in the same file or folder"+instead)
	}
	key := itemKey(volume, inside)
	content, err := o.Content(key)
	if err != nil {
		return nil, err
	}
	held := manifest.Held{File: o.File, Name: o.Name, Key: key}
	if o.Namespace != "" {
		held.Name = o.Namespace + "/" + o.Name
	}
	g.report.detail("%s of %s is the key %s of the ConfigMap %s from %s", file, c.name, key, mapName, at(o.Get("data", key)))
	return &mountedFile{held, content}, nil
}

// mount returns the volumeMount that a path of the container lies under, the
// innermost of several, and the file's path on that volume.
func (c *component) mount(file string) (mount manifest.Node, inside string) {
	mounts, _ := c.container.Get("volumeMounts").Items()
	longest := -1
	for _, m := range mounts {
		dir, _ := m.Get("mountPath").Text()
		sub, _ := m.Get("subPath").Text()
		rest, under := strings.CutPrefix(path.Clean(file), strings.TrimSuffix(path.Clean(dir), "/"))
		if dir == "" || !under || rest != "" && rest[0] != '/' || len(dir) <= longest {
			continue
		}
		longest, mount, inside = len(dir), m, path.Join(sub, strings.TrimPrefix(rest, "/"))
	}
	return mount, inside
}

// volume returns a volume of the pod and the name of the ConfigMap it holds.
func (c *component) volume(name string) (volume manifest.Node, configMap string) {
	volumes, _ := c.pod.Get("volumes").Items()
	for _, v := range volumes {
		if n, _ := v.Get("name").Text(); n != name {
			continue
		}
		if m, ok := v.Get("configMap", "name").Text(); ok {
			return v.Get("configMap"), m
		}
		sources, _ := v.Get("projected", "sources").Items()
		for _, s := range sources {
			if m, ok := s.Get("configMap", "name").Text(); ok {
				return s.Get("configMap"), m
			}
		}
	}
	return manifest.Node{}, ""
}

// itemKey is the key of a ConfigMap that a path of its volume stands for.
func itemKey(volume manifest.Node, inside string) string {
	items, _ := volume.Get("items").Items()
	for _, item := range items {
		if p, _ := item.Get("path").Text(); path.Clean(p) == inside {
			key, _ := item.Get("key").Text()
			return key
		}
	}
	return inside
}
