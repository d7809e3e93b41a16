package accuracy

import "routesim/models/published"

// Bundled returns the published measurements that the program carries with it.
func Bundled() ([]Row, error) { return Read(published.FileName, published.Reader()) }
