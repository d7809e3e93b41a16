package manifest

import (
	"errors"
	"fmt"
	"io/fs"
)

// Unreadable is the error for a file that a setting or an option names and that
// cannot be read; want says what it should be. Where the setting is "" the caller
// names it.
func Unreadable(setting, file string, err error, want string) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if setting != "" {
		setting += ": "
	}
	return fmt.Errorf("%sfound %s, which cannot be read (%w), expected %s", setting, file, err, want)
}
