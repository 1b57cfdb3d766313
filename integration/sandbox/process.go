package sandbox

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// launcher starts child processes, all from one operating-system thread. On Linux a child is killed when the thread
// that started it ends (Pdeathsig), not when the process does; a goroutine's thread may end at any time, so one that
// never ends before the sandbox does all the starting.
type launcher struct {
	starts chan start
	done   chan struct{}
}

type start struct {
	cmd *exec.Cmd
	err chan<- error
}

func newLauncher() *launcher {
	l := &launcher{starts: make(chan start), done: make(chan struct{})}
	go l.run()
	return l
}

func (l *launcher) run() {
	runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
	for {
		select {
		case s := <-l.starts:
			s.err <- s.cmd.Start()
		case <-l.done:
			return
		}
	}
}

var (
	errStopped = errors.New("the sandbox is stopping")
	errKilled  = errors.New("the process was killed before it ran")
)

// start starts cmd in a process group of its own, so that a terminal's Ctrl-C does not reach it (the sandbox stops its
// children itself) and so that what it starts in turn can be killed with it.
func (l *launcher) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = childAttributes()
	err := make(chan error, 1)
	select {
	case l.starts <- start{cmd, err}:
		return <-err
	case <-l.done:
		return errStopped
	}
}

// close ends the launcher's thread. On Linux it kills every child that is still there.
func (l *launcher) close() { close(l.done) }

// process is one bootstrap, from before its start to after its end.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended and its log has been copied
	status string        // how it ended; read after exited

	mu     sync.Mutex // guards the following
	pid    int        // 0 before the start and after the end
	killed bool
}

// newProcess prepares a bootstrap as Lambda runs it: in its own folder, with nothing of this process's environment but
// what env holds.
func newProcess(dir string, env []string) *process {
	cmd := &exec.Cmd{Path: filepath.Join(dir, "bootstrap"), Args: []string{"bootstrap"}, Dir: dir, Env: env}
	return &process{cmd: cmd, exited: make(chan struct{})}
}

// start starts the process, unless it has been killed already. Its output goes to the log under name.
func (p *process) start(l *launcher, log *logger, name string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer w.Close() // the child has its own copy: without ours, its end is the end of the log
	p.cmd.Stdout, p.cmd.Stderr = w, w
	if err := p.launch(l); err != nil {
		return errors.Join(err, r.Close())
	}
	go p.wait(log, name, r)
	return nil
}

func (p *process) launch(l *launcher) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return errKilled
	}
	if err := l.start(p.cmd); err != nil {
		return err
	}
	p.pid = p.cmd.Process.Pid
	return nil
}

// wait copies the log to its end. That comes when the process and all that it started have gone, so whatever a process
// leaves behind is killed once it has ended itself.
func (p *process) wait(log *logger, name string, r io.ReadCloser) {
	defer close(p.exited)
	defer r.Close()
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		log.copy(name, r)
	}()
	_ = p.cmd.Wait()
	p.status = p.cmd.ProcessState.String()
	p.kill()
	p.mu.Lock()
	p.pid = 0
	p.mu.Unlock()
	<-logged
}

// kill kills the process and all that it started.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	if p.pid != 0 {
		_ = syscall.Kill(-p.pid, syscall.SIGKILL) // fails when there is nobody left
	}
}
