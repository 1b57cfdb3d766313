package dynamostore

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"firstwriter/idempotency"
)

const (
	recordSize   = 1024        // bytes: what a record over it costs, each duplicate pays, in write units
	chunkSize    = 390_000     // bytes of a body in one item of at most 400 KB
	maxChunks    = 64          // more than Lambda's 6 MB need
	maxBody      = 64 << 20    // bytes that a stored body may unpack to
	itemsAtOnce  = 8           // reads or writes of one body's items under way
	compressFrom = 1024        // bytes; below it compression does not pay
	bodyOutlives = time.Hour   // body items expire this long after their record
	completed    = 12 + 9 + 53 // bytes that a completion adds for completed_at, the status and the names of the response
)

// body is a response's headers and body as they are stored: the body in the record, or in items of its own.
type body struct {
	header   types.AttributeValue
	inline   []byte
	chunks   [][]byte
	encoding string
	sum      [sha256.Size]byte
}

// prepare chooses where a response's body goes. It stands in the record only while that stays within one write unit.
func prepare(held *idempotency.Record, r *idempotency.Response) body {
	h := encodeHeader(r.Header)
	size := sizeOf(held) + completed + valueSize(h)
	if len(r.Body) == 0 || size+len(r.Body) <= recordSize {
		return body{header: h, inline: r.Body}
	}
	b := apart(r.Body)
	b.header = h
	return b
}

// apart is what is kept apart from a record, in items of its own.
func apart(stored []byte) body {
	b := body{sum: sha256.Sum256(stored)}
	if packed := compress(stored); packed != nil && len(packed) < len(stored)*9/10 {
		stored, b.encoding = packed, "gzip"
	}
	for len(stored) > chunkSize {
		b.chunks, stored = append(b.chunks, stored[:chunkSize]), stored[chunkSize:]
	}
	b.chunks = append(b.chunks, stored)
	return b
}

// compress returns nil for what is too small to gain.
func compress(b []byte) []byte {
	if len(b) < compressFrom {
		return nil
	}
	var buf bytes.Buffer
	w, _ := gzip.NewWriterLevel(&buf, gzip.BestSpeed) // a valid level
	w.Write(b)                                        // a bytes.Buffer takes everything
	w.Close()
	return buf.Bytes()
}

// attributes are those that the record needs to find the body.
func (b body) attributes() item {
	switch {
	case len(b.chunks) > 0 && b.encoding != "":
		return item{"body_chunks": num(len(b.chunks)), "body_sum": bin(b.sum[:]), "body_encoding": str(b.encoding)}
	case len(b.chunks) > 0:
		return item{"body_chunks": num(len(b.chunks)), "body_sum": bin(b.sum[:])}
	case len(b.inline) > 0:
		return item{"response_body": bin(b.inline)}
	}
	return nil
}

// putBody writes body items, before a completion or a checkpoint refers to them. Those of an attempt that fails are left to
// TTL, an hour after expires.
func (s *Store) putBody(ctx context.Context, of place, b body, expires time.Time) error {
	return each(ctx, len(b.chunks), func(ctx context.Context, n int) error {
		it := key(of.item(b.sum[:], n))
		it["data"], it["expires_at"] = bin(b.chunks[n]), seconds(expires.Add(bodyOutlives))
		out, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: s.table, Item: it, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
		if err != nil {
			spentWriting(ctx, nil)
			return fmt.Errorf("dynamostore: body item %d: %w", n, err)
		}
		spentWriting(ctx, out.ConsumedCapacity)
		return nil
	})
}

// each calls f for 0 to n-1, some at a time: 6 MB are 17 items, and one after the other they could take longer than the
// budget of a read.
func each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	if n == 1 {
		return f(ctx, 0)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(itemsAtOnce)
	for i := range n {
		group.Go(func() error { return f(ctx, i) })
	}
	return group.Wait()
}

// place says whose body items are.
type place struct {
	record, kind, owner string
}

// item is the id of a body item. It has the owner, so that no other attempt can write over the item, and begins the
// body's checksum: an attempt may give two responses, the handler's and then its answer to a refused business write, and
// an item of the first may arrive after those of the second. Items of responses and of steps expire at different times.
func (p place) item(sum []byte, n int) string {
	return p.record + "#" + p.kind + "#" + p.owner + "#" + base64.RawURLEncoding.EncodeToString(sum[:min(len(sum), 9)]) + "#" + strconv.Itoa(n)
}

func responseOf(r *idempotency.Record) place { return place{r.ID, "body", r.Owner} }

func stepOf(r *idempotency.Record, owner string) place { return place{r.ID, "step", owner} }

// LoadBody implements [idempotency.Store]. It reads the body items, if there are any, one GetItem each, up to
// 8 at once.
func (s *Store) LoadBody(ctx context.Context, r *idempotency.Record) error {
	if r.Body.Chunks == 0 {
		return nil
	}
	whole, _, err := s.load(ctx, responseOf(r), r.Body)
	if err != nil {
		return err
	}
	r.Response.Body = whole
	return nil
}

// load puts together what is kept in body items, and tells when the last of them expires.
func (s *Store) load(ctx context.Context, of place, items idempotency.BodyItems) (whole []byte, expires time.Time, err error) {
	chunks := make([][]byte, items.Chunks)
	err = each(ctx, items.Chunks, func(ctx context.Context, n int) error {
		it, err := s.get(ctx, of.item(items.Sum, n))
		if err != nil {
			return fmt.Errorf("dynamostore: body item %d: %w", n, err)
		}
		data, ok := it["data"].(*types.AttributeValueMemberB)
		if !ok {
			return fmt.Errorf("dynamostore: body item %d of %d: %w", n, items.Chunks, idempotency.ErrBodyLost)
		}
		chunks[n] = data.Value
		if n == items.Chunks-1 {
			d := decoder{item: it}
			expires = time.Unix(d.num("expires_at"), 0)
		}
		return nil
	})
	if err != nil {
		return nil, expires, err
	}
	whole, err = unpack(bytes.Join(chunks, nil), items.Encoding)
	if sum := sha256.Sum256(whole); err != nil || !bytes.Equal(sum[:], items.Sum) {
		return nil, expires, fmt.Errorf("dynamostore: body of %d items does not match its checksum: %w", items.Chunks, idempotency.ErrBodyLost)
	}
	return whole, expires, nil
}

func unpack(stored []byte, encoding string) ([]byte, error) {
	if encoding != "gzip" {
		return stored, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(stored))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxBody))
}
