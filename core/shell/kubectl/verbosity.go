package kubectl

import (
	"io"
	"net/http"
	"strconv"
	"time"

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

// tracing is the level from which requests are shown.
const tracing = 6

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

type logged struct {
	logger klog.Logger
	next   http.RoundTripper
}

func (l logged) RoundTrip(r *http.Request) (*http.Response, error) {
	return l.next.RoundTrip(r.WithContext(klog.NewContext(r.Context(), l.logger)))
}
