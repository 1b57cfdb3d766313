package sandbox

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"firstwriter/integration/dynamofake"
)

// start does one thing after the other; what it does is undone by Close in the reverse order.
func (s *Sandbox) start(ctx context.Context) error {
	if err := checkFree(s.cfg.Addr); err != nil {
		return err
	}
	if err := s.openData(); err != nil {
		return err
	}
	if err := s.startServices(); err != nil {
		return err
	}
	artifacts, remove, err := makeTemp(os.TempDir())
	if err != nil {
		return err
	}
	s.onClose(remove)
	if err := s.prepare(ctx, artifacts); err != nil {
		return err
	}
	if s.stock, err = openStock(ctx, s.services, s.template.tables); err != nil {
		return err
	}
	if err := s.startFunctions(ctx, artifacts); err != nil {
		return err
	}
	if err := s.startDeliveries(ctx); err != nil {
		return err
	}
	if s.fake != nil {
		s.fake.Reset() // what the start itself called is nobody's business
	}
	return s.serveAPI()
}

func (s *Sandbox) openData() error {
	if s.cfg.Data == "" {
		return nil
	}
	lock, err := lockData(s.cfg.Data)
	if err != nil {
		return err
	}
	s.onClose(lock.Close)
	return nil
}

// startServices starts the database, the provider and the secrets, which the template's parameters point at, and reads
// the template.
func (s *Sandbox) startServices() error {
	database, err := s.startDatabase()
	if err != nil {
		return err
	}
	pspURL, err := s.startPSP()
	if err != nil {
		return err
	}
	arn := secretARN(s.cfg.Region)
	secretsURL, err := s.serve("127.0.0.1:0", &secrets{arn: arn, value: s.psp.secret, created: time.Now()})
	if err != nil {
		return err
	}
	busURL, queuesURL, err := s.startMessaging()
	if err != nil {
		return err
	}
	s.services = services{
		region:          s.cfg.Region,
		database:        database,
		secrets:         secretsURL,
		bus:             busURL,
		queues:          queuesURL,
		provider:        pspURL,
		realCredentials: s.fake == nil && isAWS(database),
	}
	s.template, err = loadTemplate(templateInput{file: s.cfg.Template, region: s.cfg.Region, given: s.cfg.Parameters, local: map[string]string{
		"JwtIssuer":         localIssuer,
		"JwtAudience":       localAudience,
		"ProviderUrl":       pspURL,
		"ProviderSecretArn": arn,
	}})
	if err != nil {
		return err
	}
	s.bus.names, s.queues.names = s.template.buses, s.template.queues
	return nil
}

func (s *Sandbox) startDatabase() (url string, err error) {
	if s.cfg.DynamoDBEndpoint != "" {
		return s.cfg.DynamoDBEndpoint, nil
	}
	dir := ""
	if s.cfg.Data != "" {
		dir = filepath.Join(s.cfg.Data, "dynamodb")
	}
	if s.fake, err = dynamofake.Open(dynamofake.Options{Dir: dir}); err != nil {
		return "", err
	}
	s.onClose(s.fake.Close)
	return s.serve("127.0.0.1:0", s.cfg.Intercept("database", s.fake))
}

func (s *Sandbox) startPSP() (url string, err error) {
	l, err := openLedger(s.cfg.Data)
	if err != nil {
		return "", err
	}
	s.onClose(l.close)
	ctx, stop := context.WithCancel(context.Background())
	s.psp = &psp{secret: "sk_" + rand.Text(), ledger: l, stop: ctx}
	url, err = s.serve("127.0.0.1:0", s.cfg.Intercept("provider", s.psp))
	s.onClose(func() error { stop(); return nil })
	return url, err
}

// serve serves a handler until Close.
func (s *Sandbox) serve(addr string, h http.Handler) (url string, err error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln)
	}()
	s.onClose(func() error {
		err := server.Close()
		<-done
		return err
	})
	return "http://" + ln.Addr().String(), nil
}

// prepare does what takes time, side by side: building, creating tables, making a key.
func (s *Sandbox) prepare(ctx context.Context, artifacts string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return build(ctx, s.launcher, s.log, s.template.functions, artifacts) })
	g.Go(func() error {
		return setUpDatabase(ctx, s.services, databaseLimit(s.services.realCredentials), s.log, s.template.tables)
	})
	var key *rsa.PrivateKey
	g.Go(func() (err error) {
		key, err = signingKey(s.cfg.Data)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	spec := authorizerSpec{issuer: localIssuer, audience: []string{localAudience}}
	if s.template.authorizer != nil {
		spec = *s.template.authorizer
	}
	s.issuer = newIssuer(spec, key)
	return nil
}

// startFunctions starts one process of each function, so that one that cannot start is known now.
func (s *Sandbox) startFunctions(ctx context.Context, artifacts string) error {
	for _, f := range s.template.functions {
		if s.cfg.Timeout > 0 {
			f.timeout = s.cfg.Timeout
		}
		p := &pool{
			fn: f, arn: functionARN(s.cfg.Region, f.id), artifacts: filepath.Join(artifacts, f.id),
			log: s.log, launcher: s.launcher, env: functionEnv(f, s.services),
		}
		s.pools[f.id] = p
		s.onClose(func() error { p.close(); return nil })
		if err := p.warm(ctx); err != nil {
			return err
		}
	}
	s.reapIdle()
	return nil
}

// reapIdle ends processes that have long been idle, until Close.
func (s *Sandbox) reapIdle() {
	tick := time.NewTicker(time.Minute)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case now := <-tick.C:
				for _, p := range s.pools {
					p.reap(now)
				}
			case <-done:
				return
			}
		}
	}()
	s.onClose(func() error { tick.Stop(); close(done); return nil })
}

func (s *Sandbox) serveAPI() error {
	g := &gateway{routes: s.template.routes, issuer: s.issuer, pools: s.pools, log: s.log, limit: integrationLimit, timings: s.timings}
	c := &control{issuer: s.issuer, psp: s.psp, bus: s.bus, queues: s.queues, stock: s.stock, pools: s.pools, fake: s.fake}
	for _, t := range s.template.tables {
		c.tables = append(c.tables, t.name)
	}
	routes := c.handler()
	var err error
	s.url, err = s.serve(s.cfg.Addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, controlPrefix) {
			routes.ServeHTTP(w, r)
			return
		}
		g.ServeHTTP(w, r)
	}))
	return err
}
