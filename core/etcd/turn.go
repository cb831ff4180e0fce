package etcd

import "context"

// turn is a mutex: whoever holds it is alone. A goroutine can stop waiting for it.
// Those that wait get it in the order in which they came.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) Lock()   { t <- struct{}{} }
func (t turn) Unlock() { <-t }

// take locks t, one of db's, for a request. A request that waited until its caller
// gave up must not happen any more; later it is too late: the record decides.
//
// It returns the error of ctx when that has ended, and rpctypes.ErrGRPCStopped
// after Close. The turn is then somebody else's.
func (db *DB) take(ctx context.Context, t turn) error {
	select {
	case t <- struct{}{}:
	default: // somebody has it
		select {
		case t <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		case <-db.done:
			return errStopped
		}
	}
	err := ctx.Err()
	if err == nil && db.isClosed() {
		err = errStopped
	}
	if err != nil {
		t.Unlock()
	}
	return err
}
