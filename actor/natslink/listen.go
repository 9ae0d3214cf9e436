package natslink

import (
	"net"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
)

// listen has the server listen at address.
func listen(o *server.Options, address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if o.Port, err = strconv.Atoi(port); err != nil {
		return err
	}
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	o.Host = host
	return nil
}
