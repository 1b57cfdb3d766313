package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

const positionsFile = "stream-positions.json"

// positions remembers how far each stream was read: after a restart the mappings go on there, so that no record is lost.
// One that was delivered and not yet noted is delivered again, as on Lambda.
type positions struct {
	mu   sync.Mutex        // guards the following
	at   map[string]string // function, stream and shard -> sequence number of the last record that is done with
	file string            // "": memory only
}

func positionKey(function, stream, shard string) string { return function + " " + stream + " " + shard }

// openPositions reads what an earlier run left in dir; "" keeps everything in memory.
func openPositions(dir string) (*positions, error) {
	p := &positions{at: map[string]string{}}
	if dir == "" {
		return p, nil
	}
	p.file = filepath.Join(dir, positionsFile)
	text, err := os.ReadFile(p.file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &p.at); err != nil {
		return nil, fmt.Errorf("%s: %w; without the file every stream is read again from its beginning", p.file, err)
	}
	return p, nil
}

// get is "" where nothing was read yet.
func (p *positions) get(key string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at[key]
}

// set notes a position, and where there is a folder writes all of them.
func (p *positions) set(key, number string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at[key] = number
	if p.file == "" {
		return nil
	}
	text, err := json.Marshal(p.at)
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(p.file+".new", p.file)
}

// forget makes a reader begin at the beginning.
func (p *positions) forget(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.at, key)
}
