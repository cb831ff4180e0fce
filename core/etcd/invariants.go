package etcd

func (db *DB) checkInvariants() {}
