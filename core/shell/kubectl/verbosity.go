package kubectl

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/spf13/pflag"
	"k8s.io/client-go/transport"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// verbosity is the value of -v. Upstream's sets the level of the whole process,
// in which the API server and the controllers log as well; this one shows what
// the command itself sends and receives.
type verbosity int

func (v *verbosity) String() string { return strconv.Itoa(int(*v)) }
func (v *verbosity) Type() string   { return "Level" }

func (v *verbosity) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 32)
	*v = verbosity(n)
	return err
}

// addFlags adds the flags that component-base/logs gives to a program, with
// upstream's words.
func (v *verbosity) addFlags(flags *pflag.FlagSet) {
	flags.VarP(v, "v", "v", "number for the log level verbosity")
	flags.Duration("log-flush-frequency", 5*time.Second, "Maximum number of seconds between log flushes")
	flags.Var(new(ignored), "vmodule", "comma-separated list of pattern=N settings for file-filtered logging (only works for the default text log format)")
}

type ignored struct{}

func (*ignored) String() string   { return "" }
func (*ignored) Type() string     { return "pattern=N,..." }
func (*ignored) Set(string) error { return nil }

// From these levels, requests are shown, and what they and their answers hold.
const (
	tracing = 6
	bodies  = 8
)

// wrap returns what makes a transport log to w as the level says.
func (v *verbosity) wrap(w io.Writer) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		if *v < tracing {
			return next
		}
		logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Verbosity(int(*v)), textlogger.Output(w)))
		return logged{logger, transport.NewDebuggingRoundTripper(next, transport.DebugByContext)}
	}
}

// logged gives a request the command's logger. What client-go logs above the transport, which are the bodies, it logs to
// the logger of a context that kubectl does not lend: that is done here, at client-go's own moments and with its function.
type logged struct {
	logger klog.Logger
	next   http.RoundTripper
}

func (l logged) RoundTrip(r *http.Request) (*http.Response, error) {
	shows := l.logger.V(bodies).Enabled()
	if shows {
		logBody(l.logger, 0, "Request Body", sent(r))
	}
	response, err := l.next.RoundTrip(r.WithContext(klog.NewContext(r.Context(), l.logger)))
	if shows && err == nil && response.StatusCode != http.StatusSwitchingProtocols && !streams(r.URL) {
		response.Body = &copied{ReadCloser: response.Body, whole: func(body []byte) { logBody(l.logger, 0, "Response Body", body) }}
	}
	return response, err
}

// sent is the body of a request that has not been sent, and empty where that can be read only once.
func sent(r *http.Request) []byte {
	if r.GetBody == nil {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	content, _ := io.ReadAll(body) // of the memory
	return content
}

// streams reports whether client-go passes an answer on while it comes, without a word in the log: events of a watch, and
// logs.
func streams(u *url.URL) bool {
	watch, _ := strconv.ParseBool(u.Query().Get("watch"))
	return watch || strings.HasSuffix(u.Path, "/log")
}

// copied is a body that is told when it has been read to its end.
type copied struct {
	io.ReadCloser
	content bytes.Buffer
	whole   func([]byte) // nil once it has been told
}

func (c *copied) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if c.whole == nil {
		return n, err
	}
	c.content.Write(p[:n])
	if err == io.EOF {
		c.whole(c.content.Bytes())
		c.whole, c.content = nil, bytes.Buffer{}
	}
	return n, err
}

// logBody shortens as the level says, and shows what is no text as hexadecimal numbers.
//
//go:linkname logBody k8s.io/client-go/rest.logBody
func logBody(logger klog.Logger, callDepth int, prefix string, body []byte)
