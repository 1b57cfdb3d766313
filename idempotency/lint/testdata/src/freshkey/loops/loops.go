// Package loops mints keys inside retry loops.
package loops

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"net/http"

	"github.com/google/uuid"
)

const keyHeader = "Idempotency-Key"

type client struct{ http *http.Client }

func inline(c *http.Client, body []byte) (*http.Response, error) {
	var last error
	for attempt := 0; attempt < 3; attempt++ {
		req, _ := http.NewRequest("POST", "http://example.com", bytes.NewReader(body))
		req.Header.Set(keyHeader, uuid.NewString()) // want `freshkey: this key is made anew on each attempt`
		resp, err := c.Do(req)
		if err == nil {
			return resp, nil
		}
		last = err
	}
	return nil, last
}

func throughVariables(c *http.Client, req *http.Request) (resp *http.Response, err error) {
	for range 3 {
		var b [16]byte
		rand.Read(b[:])
		key := "charge-" + hex.EncodeToString(b[:])
		req.Header["X-Idempotency-Key"] = []string{key} // want `made anew on each attempt`
		if resp, err = c.Do(req); err != nil {
			continue
		}
		if resp.StatusCode < 500 {
			break
		}
	}
	return resp, err
}

func newKey() string { return uuid.Must(uuid.NewV7()).String() }

func byFunction(c *http.Client, req *http.Request) error {
	for {
		key := newKey()
		req.Header.Add("idempotency-key", key) // want `made anew on each attempt`
		resp, err := c.Do(req)
		if err != nil {
			continue
		}
		switch resp.StatusCode {
		case 200, 201:
			return nil
		}
	}
}

func (c *client) post(body []byte) error {
	req, err := http.NewRequest("POST", "http://example.com", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set(keyHeader, uuid.NewString())
	_, err = c.http.Do(req)
	return err
}

func (c *client) logged(body []byte) error { return c.post(body) }

func (c *client) retry(body []byte) (err error) {
	for i := 0; i < 3; i++ {
		if err = c.logged(body); err == nil { // want `freshkey: post makes a new key on each attempt`
			return nil
		}
	}
	return err
}

func (c *client) keyed(key string) error {
	req, _ := http.NewRequest("POST", "http://example.com", nil)
	req.Header.Set(keyHeader, key)
	_, err := c.http.Do(req)
	return err
}

func (c *client) handsOver() (err error) {
	for i := 0; i < 3; i++ {
		if err = c.keyed(uuid.NewString()); err == nil { // want `made anew on each attempt`
			return nil
		}
	}
	return err
}

type retrier struct{}

func (retrier) Do(f func() error) error { return f() }

func byLibrary(c *http.Client, retry retrier, req *http.Request) error {
	return retry.Do(func() error {
		req.Header.Set(keyHeader, uuid.New().String()) // want `made anew on each attempt`
		_, err := c.Do(req)
		return err
	})
}
