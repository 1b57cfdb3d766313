package dynamofake

import (
	"encoding/binary"
	"errors"
	"time"
)

// The payload of a log record is its kind and then strings and numbers, each
// with its length in front.

// encoder builds a payload.
type encoder struct{ out []byte }

func (e *encoder) byte(b byte)      { e.out = append(e.out, b) }
func (e *encoder) uint(n uint64)    { e.out = binary.AppendUvarint(e.out, n) }
func (e *encoder) time(t time.Time) { e.uint(uint64(t.UnixMilli())) }

func (e *encoder) str(s string) {
	e.uint(uint64(len(s)))
	e.out = append(e.out, s...)
}

// item writes the attributes of an item; the elements of lists and sets are
// written like attributes without a name.
func (e *encoder) item(it item) {
	e.uint(uint64(len(it)))
	for i := range it {
		e.str(it[i].name)
		e.byte(byte(it[i].kind))
		e.str(it[i].text)
		e.item(it[i].elems)
	}
}

var errPayload = errors.New("the payload makes no sense; the file is of another version")

// payload reads what an encoder built. After an error it reads zeros.
type payload struct {
	in  []byte
	err error
}

func (p *payload) byte() byte {
	if len(p.in) == 0 {
		p.err = errPayload
		return 0
	}
	b := p.in[0]
	p.in = p.in[1:]
	return b
}

func (p *payload) uint() uint64 {
	n, size := binary.Uvarint(p.in)
	if size <= 0 {
		p.in, p.err = nil, errPayload
		return 0
	}
	p.in = p.in[size:]
	return n
}

func (p *payload) time() time.Time { return time.UnixMilli(int64(p.uint())) }

func (p *payload) str() string {
	n := p.uint()
	if n > uint64(len(p.in)) {
		p.in, p.err = nil, errPayload
		return ""
	}
	s := string(p.in[:n])
	p.in = p.in[n:]
	return s
}

// item reads what encoder.item wrote. The number of attributes is checked
// against what is left, so that a damaged one cannot ask for all memory.
func (p *payload) item() item {
	n := p.uint()
	if n > uint64(len(p.in)) {
		p.in, p.err = nil, errPayload
		return nil
	}
	if n == 0 {
		return nil
	}
	it := make(item, n)
	for i := range it {
		it[i].name = p.str()
		it[i].kind = kind(p.byte())
		it[i].text = p.str()
		it[i].elems = p.item()
	}
	return it
}
