package lint

import (
	"go/ast"
	"go/types"
	"strings"
)

// minters are the packages whose functions make random ids, by the last element of their path.
var minters = map[string]bool{"uuid": true, "ulid": true, "ksuid": true, "xid": true, "nanoid": true, "go-nanoid": true,
	"shortuuid": true, "cuid2": true, "rand": true}

// packageName is the last element of a path that is no major version.
func packageName(path string) string {
	parts := strings.Split(path, "/")
	last := parts[len(parts)-1]
	if len(parts) > 1 && len(last) > 1 && last[0] == 'v' && last[1] >= '0' && last[1] <= '9' {
		return parts[len(parts)-2]
	}
	return last
}

// mints tells whether a function makes a random id. Those that take a name (uuid.NewSHA1) do not, nor do parsers.
func mints(fn *types.Func) bool {
	if !minters[packageName(fn.Pkg().Path())] || fn.Signature().Recv() != nil {
		return false
	}
	switch fn.Name() {
	case "New", "NewString", "NewRandom", "NewUUID", "NewV1", "NewV4", "NewV6", "NewV7", "Make", "MustNew", "MustGenerate", "Generate",
		"Text", "Int", "Int63", "Int64", "IntN", "Int64N", "Intn", "Uint32", "Uint64", "Int31", "N", "NewRandomWithOptions":
		return true
	}
	return false
}

// isHash tells whether a function hashes its arguments, or ends a hash that was written to.
func isHash(fn *types.Func) bool {
	path := fn.Pkg().Path()
	switch {
	case fn.Name() == "Sum" && fn.Signature().Recv() != nil:
		return true
	case packageName(path) == "uuid":
		return fn.Name() == "NewSHA1" || fn.Name() == "NewMD5" || fn.Name() == "NewV3" || fn.Name() == "NewV5" || fn.Name() == "NewHash"
	}
	return strings.HasPrefix(path, "crypto/") && strings.HasPrefix(fn.Name(), "Sum")
}

// formats tells whether a function only writes its arguments in another way.
func formats(fn *types.Func) bool {
	switch path := fn.Pkg().Path(); path {
	case "fmt", "strconv", "strings", "bytes", "encoding/hex", "encoding/base64", "encoding/base32", "time":
		return true
	default:
		return minters[packageName(path)] // uuid.Must, UUID.String
	}
}

func isBuiltin(info *types.Info, fun ast.Expr) bool { return info.Types[fun].IsBuiltin() }
