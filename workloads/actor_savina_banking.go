package workloads

import (
	"errors"
	"strconv"
)

const (
	bankAccounts = 1000
	bankOpening  = 1_000_000 // an account's balance to begin with
	bankTellers  = 64        // transfers under way at once
	bankMost     = 1000      // an amount is less
)

// savinaBanking is money that is transferred between accounts. Balances are whole numbers, so
// that not a cent is lost unnoticed; Savina's are floating-point numbers so large that adding an
// amount does not change them. A transfer does not keep its account waiting for the answer of the
// other, as Savina's does by a stash: others go on.
func savinaBanking() []Workload {
	return savina(Workload{
		Name:     "banking",
		Doc:      "after Savina: 1,000 accounts, between which 64 transfers at a time move money: requests and replies within handlers",
		Op:       "a transfer, of four messages",
		Messages: 4,
		Checked:  "each message of a transfer comes once, in order, to its account; every balance; that no money was lost",
	}, func(s *progress) savinaProgram[*transfer] { return newBank(s) })
}

// A transfer is the message: to the account that pays, to the one that is paid, back as a
// receipt, and to the teller, who uses it again.
type transfer struct {
	teller   int
	rnd      splitMix // its seed is the teller's number
	from, to int32    // accounts
	amount   int64
	step     int8 // which of the four messages it is
	left     int  // transfers of this Do
}

type account struct {
	balance int64
	paid    int64    // transfers that have come back with a receipt
	_       [48]byte // accounts are worked on by different processors
}

// bank is node bankAccounts, the tellers; the nodes before it are the accounts.
type bank struct {
	rota      // the tellers
	accounts  [bankAccounts]account
	transfers [bankTellers]transfer
}

func newBank(s *progress) *bank {
	b := new(bank)
	b.rota = newRota(s, bankTellers, func(at, ops int) { b.transfers[at].left = ops })
	for i := range b.accounts {
		b.accounts[i].balance = bankOpening
	}
	for i := range b.transfers {
		b.transfers[i] = newTransfer(i)
	}
	return b
}

func (b *bank) size() int { return bankAccounts + 1 }

// newTransfer returns what a teller's transfers are made of.
func newTransfer(teller int) transfer { return transfer{teller: teller, rnd: splitMix(teller)} }

// draw draws the next transfer: from an account of the teller to any other. So an account
// pays once at a time, and is paid meanwhile.
func (t *transfer) draw() {
	t.from = int32(t.teller + bankTellers*t.rnd.below(share(bankAccounts, t.teller, bankTellers)))
	t.to = int32(t.rnd.below(bankAccounts - 1))
	if t.to >= t.from {
		t.to++
	}
	t.amount = int64(t.rnd.below(bankMost))
	t.step = 0
}

func (b *bank) start(send func(to int, t *transfer) error) error {
	return b.each(func(at int) error {
		t := &b.transfers[at]
		t.draw()
		return send(int(t.from), t)
	})
}

func (b *bank) handle(at int, t *transfer, send carrier[*transfer]) error {
	step := t.step
	t.step++
	switch {
	case step == 0 && at == int(t.from):
		b.accounts[at].balance -= t.amount
		send(int(t.to), t)
	case step == 1 && at == int(t.to):
		b.accounts[at].balance += t.amount
		send(int(t.from), t)
	case step == 2 && at == int(t.from):
		b.accounts[at].paid++
		send(bankAccounts, t)
	case step == 3 && at == bankAccounts && t.left > 0:
		if t.left--; t.left == 0 {
			b.part()
			return nil
		}
		t.draw()
		send(int(t.from), t)
	default:
		return errors.New("workloads: a message of a transfer came twice, out of order or to another account")
	}
	return nil
}

// check makes the same transfers again, one after the other.
func (b *bank) check() error {
	var want [bankAccounts]account
	for i := range want {
		want[i].balance = bankOpening
	}
	for i, n := range b.asked {
		t := newTransfer(i)
		for range n {
			t.draw()
			want[t.from].balance -= t.amount
			want[t.from].paid++
			want[t.to].balance += t.amount
		}
	}
	for i := range want {
		if b.accounts[i] != want[i] {
			return errors.New("workloads: account " + strconv.Itoa(i) + " has " + strconv.FormatInt(b.accounts[i].balance, 10) + " and " +
				strconv.FormatInt(b.accounts[i].paid, 10) + " receipts instead of " + strconv.FormatInt(want[i].balance, 10) + " and " +
				strconv.FormatInt(want[i].paid, 10))
		}
	}
	return nil
}
