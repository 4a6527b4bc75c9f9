package postgres

import (
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// reasons by the codes of PostgreSQL's errors, or by their classes.
var reasons = map[string]string{
	"53100": "it is full", "53200": "there is too little memory", "53300": "it has too many connections",
	"25006": "it is read-only", "42501": "access is denied", "28": "access is denied", "3D": "there is no such database",
	"57P": "it was shut down", "55P03": "it is locked", "57014": "it took too long", "54": "an id or a key is too long",
	"40": "transactions met each other", "XX": "it is damaged", "58": "its files cannot be read or written",
	"08": connectionBroke, "25P03": connectionBroke,
}

const connectionBroke = "its connection broke"

func reason(err error) string {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		for _, n := range []int{5, 3, 2} {
			if why := reasons[answer.Code[:min(n, len(answer.Code))]]; why != "" {
				return why
			}
		}
		return ""
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return "it cannot be reached"
	}
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "conn closed") || strings.Contains(err.Error(), "driver: bad connection") {
		return connectionBroke
	}
	return ""
}

// broken tells whether a connection that was there broke.
func broken(err error) bool {
	var connect *pgconn.ConnectError
	var answer *pgconn.PgError
	if errors.As(err, &connect) {
		return false
	}
	if errors.As(err, &answer) && strings.HasPrefix(answer.Code, "57P") {
		return true
	}
	return reason(err) == connectionBroke
}

// again tells whether transactions met each other, of which one succeeds when it is tried again.
func again(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && strings.HasPrefix(answer.Code, "40")
}

// answered tells whether the database itself has refused a commit.
func answered(err error) bool {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return !strings.HasPrefix(answer.Code, "57P")
	}
	return errors.Is(err, pgx.ErrTxCommitRollback)
}
