package sandbox

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const keyFile = "jwt-key.pem"

// signingKey returns the key that signs tokens: that of an earlier run with the same data folder, so that its tokens
// stay good, or a new one. Without a folder it is new every time.
func signingKey(dir string) (*rsa.PrivateKey, error) {
	if dir == "" {
		return rsa.GenerateKey(rand.Reader, 2048)
	}
	file := filepath.Join(dir, keyFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return newSigningKey(file)
	}
	if err != nil {
		return nil, err
	}
	key, err := decodeKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove it to get a new key", file, err)
	}
	return key, nil
}

func newSigningKey(file string) (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

func decodeKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("not a PEM file")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	if k, ok := key.(*rsa.PrivateKey); ok {
		return k, nil
	}
	return nil, errors.New("not an RSA key")
}
