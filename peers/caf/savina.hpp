// savina.hpp has the programs after Savina for the C++ Actor Framework. Protocols, numbers and
// checks are those of workloads/actor_savina_*.go. Nodes are event-based actors by number; what
// they have counted is looked at while none has anything to do.
#pragma once

#include <array>
#include <climits>
#include <deque>

#include "base.hpp"

namespace savina {

using caf::anon_send;
using caf::behavior;
using caf::event_based_actor;
using caf::ok_atom;

// splitmix is the generator SplitMix64; to begin with it is its seed.
struct splitmix {
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  // below returns a number below n.
  int32_t below(uint64_t n) { return int32_t((next() >> 32) * n >> 32); }
};

// rota shares the operations of a slice out among so many who carry them out. Who gets the odd
// ones changes from slice to slice.
struct rota {
  int64_t of, first = 0, busy = 0;
  explicit rota(int64_t of) : of(of) {}
  template <class F>
  void deal(int64_t n, F give) {
    busy = std::min(n, of);
    for (int64_t i = 0; i < of; i++) give((first + i) % of, share(n, i, of));
  }
  // each calls f for all that have operations.
  template <class F>
  void each(F f) {
    int64_t begin = first;
    first = (first + busy) % of;
    for (int64_t i = 0; i < busy; i++) f((begin + i) % of);
  }
};

template <class T>
T shift(std::deque<T>& queue) {
  T first = queue.front();
  queue.pop_front();
  return first;
}

// banking: money is transferred between accounts, 64 transfers at a time.
struct banking : base {
  static constexpr int64_t accounts = 1000, opening = 1000000, tellers = 64, most = 1000;
  using pay_atom = caf::atom_constant<caf::atom("pay")>;
  using paid_atom = caf::atom_constant<caf::atom("paid")>;
  using receipt_atom = caf::atom_constant<caf::atom("receipt")>;

  struct alignas(64) account {
    int64_t balance = opening, paid = 0;
    bool waits = false;  // for a receipt
  };
  struct teller {
    splitmix rnd;
    int64_t left = 0, done = 0;
    int64_t from = 0, to = 0, amount = 0;
    void draw(int64_t number) {
      from = number + tellers * rnd.below(uint64_t(share(accounts, number, tellers)));
      to = rnd.below(accounts - 1);
      to += to >= from;
      amount = rnd.below(most);
    }
  };
  std::vector<account> books{size_t(accounts)};
  std::vector<teller> desk;
  rota dealt{tellers};

  explicit banking(int processors) : base(processors) {
    for (uint64_t t = 0; t < tellers; t++) desk.push_back({{t}});
    for (int64_t i = 0; i < accounts; i++) {
      node([this, i](event_based_actor* self) -> behavior {
        account* a = &books[i];
        return {
            [=](pay_atom, int64_t t, int64_t to, int64_t amount) {
              if (a->waits) end.fail("an account was told to pay while it waits for a receipt");
              a->waits = true;
              a->balance -= amount;
              self->send(all[to], paid_atom::value, t, i, amount);
            },
            [=](paid_atom, int64_t t, int64_t from, int64_t amount) {
              a->balance += amount;
              self->send(all[from], receipt_atom::value, t, i);
            },
            [=](receipt_atom, int64_t t, int64_t from) {
              if (!a->waits) end.fail("a receipt came twice, or to another account");
              a->waits = false;
              a->paid++;
              self->send(all[accounts], t, i, from);
            },
        };
      });
    }
    node([this](event_based_actor* self) -> behavior {
      return {[=](int64_t number, int64_t from, int64_t to) {
        teller& t = desk[number];
        if (t.left == 0 || t.from != from || t.to != to) end.fail("a message of a transfer came twice, or of another");
        if (--t.left == 0) {
          end.part();
          return;
        }
        t.draw(number);
        self->send(all[t.from], pay_atom::value, number, t.to, t.amount);
      }};
    });
  }
  void ops(int64_t n) override {
    dealt.deal(n, [this](int64_t t, int64_t k) { desk[t].left = k, desk[t].done += k; });
    end.begin(dealt.busy);
    dealt.each([this](int64_t number) {
      teller& t = desk[number];
      t.draw(number);
      anon_send(all[t.from], pay_atom::value, number, t.to, t.amount);
    });
    end.wait();
  }
  // check makes the same transfers again, one after the other.
  void check() override {
    std::vector<account> want{size_t(accounts)};
    for (int64_t number = 0; number < tellers; number++) {
      teller t{{uint64_t(number)}};
      for (int64_t i = 0; i < desk[number].done; i++) {
        t.draw(number);
        want[t.from].balance -= t.amount;
        want[t.from].paid++;
        want[t.to].balance += t.amount;
      }
    }
    for (size_t i = 0; i < want.size(); i++)
      if (want[i].balance != books[i].balance || want[i].paid != books[i].paid || books[i].waits)
        throw drive::wrong("an account has another balance or other receipts than it should");
  }
};

// barber: customers come to a waiting room, which sends them to a sleeping barber one by one.
struct barber : base {
  static constexpr int64_t customers = 64, room = customers, chair = customers + 1;
  static constexpr uint32_t rounds = 50;  // of the filler function for a haircut

  struct alignas(64) customer {
    int64_t left = 0, had = 0, asked = 0;
    uint32_t hair = 0;
  };
  struct visit {
    int64_t who, number;
    uint32_t hair;
  };
  std::vector<customer> all_customers{size_t(customers)};
  rota coming{customers};
  std::deque<visit> waiting;  // the room's, and the next three
  bool awake = false;
  int64_t came = 0, due = 0;
  int64_t served = 0;  // the barber's

  explicit barber(int processors) : base(processors) {
    for (int64_t i = 0; i < customers; i++) {
      all_customers[i].hair = drive::fill(uint32_t(i), 2);
      node([this, i](event_based_actor* self) -> behavior {
        customer* c = &all_customers[i];
        return {
            [=](ok_atom) { self->send(all[room], i, c->hair); },
            [=](uint32_t hair) {
              c->had++;
              c->hair = hair;
              if (--c->left == 0) {
                end.part();
              } else {
                self->send(all[room], i, hair);
              }
            },
        };
      });
    }
    node([this](event_based_actor* self) -> behavior {
      auto next = [=] {
        if (awake || waiting.empty()) return;
        awake = true;
        visit v = shift(waiting);
        self->send(all[chair], v.who, v.number, v.hair);
      };
      return {
          [=](int64_t who, uint32_t hair) {
            waiting.push_back({who, came++, hair});
            next();
          },
          [=](ok_atom) {  // the barber is free
            awake = false;
            if (--due == 0) end.part();
            next();
          },
      };
    });
    node([this](event_based_actor* self) -> behavior {
      return {[=](int64_t who, int64_t number, uint32_t hair) {
        if (number != served) end.fail("customers came to the barber in another order than to the room");
        served++;
        self->send(all[who], drive::fill(hair, rounds));
        self->send(all[room], ok_atom::value);
      }};
    });
  }
  void ops(int64_t n) override {
    coming.deal(n, [this](int64_t i, int64_t k) { all_customers[i].left = k, all_customers[i].asked += k; });
    due = n;
    end.begin(coming.busy + 1);
    coming.each([this](int64_t i) { anon_send(all[i], ok_atom::value); });
    end.wait();
  }
  void check() override {
    for (size_t i = 0; i < all_customers.size(); i++) {
      customer& c = all_customers[i];
      if (c.had != c.asked || c.hair != drive::fill(uint32_t(i), uint32_t(2 + rounds * c.asked))) throw drive::wrong("a customer has had other haircuts than it should");
    }
    if (served != came || !waiting.empty()) throw drive::wrong("other customers were served than came");
  }
};

// bndbuffer: a buffer of 50 places between producers and consumers.
struct bndbuffer : base {
  static constexpr int64_t room = 50, ends = 40;
  static constexpr uint32_t work = 25;  // rounds of the filler function, of either end
  using made_atom = caf::atom_constant<caf::atom("made")>;
  using used_atom = caf::atom_constant<caf::atom("used")>;

  struct alignas(64) producer {
    int64_t items = 0;
  };
  struct alignas(64) consumer {
    uint64_t sum = 0;
  };
  struct place {
    int64_t holder = 0;  // the node that has it; 0 is the buffer
    uint32_t value = 0;
  };
  std::vector<producer> producers{size_t(ends)};
  std::vector<consumer> consumers{size_t(ends)};
  rota making{ends};
  std::vector<int64_t> left = std::vector<int64_t>(ends), asked = left;  // items of each producer; left is the buffer's, as all below
  std::vector<place> places{size_t(room)};
  std::deque<int64_t> free, filled, ready, idle;
  int64_t due = 0;

  static uint32_t item(int64_t producer, int64_t k) { return uint32_t(producer) << 24 ^ uint32_t(k); }

  explicit bndbuffer(int processors) : base(processors) {
    for (int64_t i = 0; i < room; i++) free.push_back(i);
    for (int64_t i = 0; i < ends; i++) idle.push_back(i);
    node([this](event_based_actor* self) -> behavior {
      auto match = [=] {
        while (!filled.empty() && !idle.empty()) {
          int64_t p = shift(filled);
          places[p].holder = 1 + ends + shift(idle);
          self->send(all[places[p].holder], p, places[p].value);
        }
        while (!free.empty() && !ready.empty()) {
          int64_t p = shift(free), who = shift(ready);
          left[who]--;
          places[p].holder = 1 + who;
          self->send(all[1 + who], p);
        }
      };
      auto take = [=](int64_t p, int64_t from) {
        if (places[p].holder != from) end.fail("an item came twice, or from another actor");
        places[p].holder = 0;
      };
      return {
          [=](ok_atom) {
            making.each([this](int64_t i) { ready.push_back(i); });
            match();
          },
          [=](made_atom, int64_t p, int64_t who, uint32_t value) {
            take(p, 1 + who);
            places[p].value = value;
            filled.push_back(p);
            if (left[who] > 0) ready.push_back(who);
            match();
          },
          [=](used_atom, int64_t p, int64_t who) {
            take(p, 1 + ends + who);
            free.push_back(p);
            idle.push_back(who);
            match();
            if (--due == 0) end.part();
          },
      };
    });
    for (int64_t i = 0; i < ends; i++) {
      node([this, i](event_based_actor* self) -> behavior {
        return {[=](int64_t p) { self->send(all[0], made_atom::value, p, i, drive::fill(item(i, producers[i].items++), work)); }};
      });
    }
    for (int64_t i = 0; i < ends; i++) {
      node([this, i](event_based_actor* self) -> behavior {
        return {[=](int64_t p, uint32_t value) {
          consumers[i].sum += drive::fill(value, work);
          self->send(all[0], used_atom::value, p, i);
        }};
      });
    }
  }
  void ops(int64_t n) override {
    making.deal(n, [this](int64_t i, int64_t k) { left[i] = k, asked[i] += k; });
    due = n;
    end.begin(1);
    anon_send(all[0], ok_atom::value);
    end.wait();
  }
  void check() override {
    uint64_t want = 0, got = 0;
    for (int64_t i = 0; i < ends; i++) {
      if (producers[i].items != asked[i]) throw drive::wrong("a producer has made other items than it should");
      for (int64_t k = 0; k < asked[i]; k++) want += drive::fill(item(i, k), 2 * work);
      got += consumers[i].sum;
    }
    if (got != want || int64_t(free.size()) != room || int64_t(idle.size()) != ends)
      throw drive::wrong("consumers have had other items than were made, or a place is missing");
  }
};

constexpr int32_t keys = 512;

// table is the server's dictionary of concdict.
struct table {
  std::array<int64_t, keys> values{};
  int64_t& at(int32_t key) { return values[key]; }
  int64_t sum() {
    int64_t s = 0;
    for (int64_t v : values) s += v;
    return s;
  }
  static constexpr int32_t sums = 0;  // of a hundred requests
};

// list is that of concsll: its elements are in the order of keys, and do not lie so in memory.
struct list {
  struct element {
    int32_t key = 0;
    int64_t value = 0;
    element* next = nullptr;
  };
  std::vector<element> elements{size_t(keys)};
  element* first;
  list() {
    auto place = [this](int32_t key) { return &elements[size_t(key * 199 % keys)]; };
    for (int32_t key = 0; key < keys; key++) {
      place(key)->key = key;
      if (key > 0) place(key - 1)->next = place(key);
    }
    first = place(0);
  }
  int64_t& at(int32_t key) {
    element* e = first;
    while (e->key < key) e = e->next;
    return e->value;
  }
  int64_t sum() {
    int64_t s = 0;
    for (element* e = first; e; e = e->next) s += e->value;
    return s;
  }
  static constexpr int32_t sums = 1;
};

// dict: workers ask one server to read and to write.
template <class Store>
struct dict : base {
  static constexpr int64_t workers = 20;
  static constexpr int32_t writes = 10;  // of a hundred requests

  struct alignas(64) worker {
    splitmix rnd;
    int64_t left = 0, done = 0;
    int32_t key = 0;  // keys asks for the sum of all
    int64_t add = 0;
    std::vector<int64_t> seen = std::vector<int64_t>(keys + 1);
    void draw() {
      key = rnd.below(keys);
      add = 0;
      int32_t kind = rnd.below(100);
      if (kind < writes) {
        add = 1 + rnd.below(1000);
      } else if (kind < writes + Store::sums) {
        key = keys;
      }
    }
  };
  std::vector<worker> all_workers;
  rota asking{workers};
  Store store;         // the server's
  int64_t served = 0;  // the server's

  explicit dict(int processors) : base(processors) {
    for (uint64_t i = 0; i < workers; i++) all_workers.push_back({{i}});
    node([this](event_based_actor* self) -> behavior {
      return {[=](int64_t who, int32_t key, int64_t add) {
        served++;
        self->send(all[1 + who], key, key == keys ? store.sum() : store.at(key) += add);
      }};
    });
    for (int64_t i = 0; i < workers; i++) {
      node([this, i](event_based_actor* self) -> behavior {
        worker* w = &all_workers[i];
        auto ask = [=] {
          w->draw();
          self->send(all[0], i, w->key, w->add);
        };
        return {
            [=](ok_atom) { ask(); },
            [=](int32_t key, int64_t value) {
              if (w->left == 0 || key != w->key) end.fail("a reply came twice, or to another worker");
              if (value < w->seen[key] + w->add) end.fail("a worker has read less than was there before");
              w->seen[key] = value;
              if (--w->left == 0) {
                end.part();
              } else {
                ask();
              }
            },
        };
      });
    }
  }
  void ops(int64_t n) override {
    asking.deal(n, [this](int64_t i, int64_t k) { all_workers[i].left = k, all_workers[i].done += k; });
    end.begin(asking.busy);
    asking.each([this](int64_t i) { anon_send(all[1 + i], ok_atom::value); });
    end.wait();
  }
  // check makes the same requests again.
  void check() override {
    std::vector<int64_t> want(keys + 1);
    int64_t asked = 0;
    for (uint64_t i = 0; i < workers; i++) {
      worker w{{i}};
      for (int64_t k = 0; k < all_workers[i].done; k++, asked++) {
        w.draw();
        want[w.key] += w.add;
      }
    }
    if (asked != served) throw drive::wrong("the server has served more or fewer requests");
    for (int32_t key = 0; key < keys; key++)
      if (store.at(key) != want[key]) throw drive::wrong("a key has another value than it should");
  }
};

// fjthrput: one actor sends to 60 others, which send each message back.
struct fjthrput : base {
  static constexpr int64_t receivers = 60, bundles = receivers * 16;

  struct alignas(64) receiver {
    int64_t count = 0;
    uint64_t sum = 0;
  };
  std::vector<receiver> all_receivers{size_t(receivers)};
  rota sending{bundles};
  // The sender's: how often it is to send each message, and what went to each receiver and came back.
  std::vector<int64_t> left = std::vector<int64_t>(bundles), asked = left;
  std::vector<int64_t> sent = std::vector<int64_t>(receivers), back = sent;

  static uint32_t value(int64_t b) { return drive::fill(uint32_t(b), 2); }

  explicit fjthrput(int processors) : base(processors) {
    std::vector<uint32_t> values;
    for (int64_t b = 0; b < bundles; b++) values.push_back(value(b));
    node([this, values](event_based_actor* self) -> behavior {
      auto dispatch = [=](int64_t b) {
        int64_t home = b % receivers;
        self->send(all[1 + home], b, sent[home]++, values[b]);
      };
      return {
          [=](ok_atom) { sending.each(dispatch); },
          [=](int64_t b, int64_t turn) {
            if (left[b] == 0 || turn != back[b % receivers]++) end.fail("a message came back twice, or out of order");
            if (--left[b] == 0) {
              end.part();
            } else {
              dispatch(b);
            }
          },
      };
    });
    for (int64_t i = 0; i < receivers; i++) {
      node([this, i](event_based_actor* self) -> behavior {
        receiver* r = &all_receivers[i];
        return {[=](int64_t b, int64_t turn, uint32_t value) {
          if (b % receivers != i || turn != r->count) end.fail("a message came twice, out of order or to another receiver");
          r->count++;
          r->sum += value;
          self->send(all[0], b, turn);
        }};
      });
    }
  }
  void ops(int64_t n) override {
    sending.deal(n, [this](int64_t b, int64_t k) { left[b] = k, asked[b] += k; });
    end.begin(sending.busy);
    anon_send(all[0], ok_atom::value);
    end.wait();
  }
  void check() override {
    std::vector<receiver> want{size_t(receivers)};
    for (int64_t b = 0; b < bundles; b++) {
      want[b % receivers].count += asked[b];
      want[b % receivers].sum += uint64_t(asked[b]) * value(b);
    }
    for (size_t i = 0; i < want.size(); i++)
      if (want[i].count != all_receivers[i].count || want[i].sum != all_receivers[i].sum) throw drive::wrong("a receiver has had other messages than it should");
  }
};

// logmap: a master asks series for terms; each asks its computer for one at a time, and awaits it.
struct logmap : base {
  static constexpr int64_t series = 10, window = 16, asks = series * window;
  static constexpr uint32_t begin = (1u << 31) / 100;

  struct alignas(64) sequence {
    uint32_t x = begin;
    int64_t came = 0, terms = 0;
  };
  std::vector<sequence> sequences{size_t(series)};
  rota asking{asks};
  // The master's.
  std::vector<int64_t> left = std::vector<int64_t>(asks), asked = left;
  std::vector<int64_t> sent = std::vector<int64_t>(series), back = sent;

  static uint32_t next(int64_t s, uint32_t x) {
    uint64_t rate = (uint64_t(34600 + 25 * s) << 16) / 10000;
    return uint32_t((uint64_t(x) * uint64_t(~x) >> 32) * rate >> 16);
  }

  explicit logmap(int processors) : base(processors) {
    node([this](event_based_actor* self) -> behavior {
      auto dispatch = [=](int64_t m) { self->send(all[1 + 2 * (m % series)], m, sent[m % series]++); };
      return {
          [=](ok_atom) { asking.each(dispatch); },
          [=](int64_t m, int64_t turn) {
            if (left[m] == 0 || turn != back[m % series]++) end.fail("a term came twice, or out of order");
            if (--left[m] == 0) {
              end.part();
            } else {
              dispatch(m);
            }
          },
      };
    });
    for (int64_t i = 0; i < series; i++) {
      node([this, i](event_based_actor* self) -> behavior {
        sequence* s = &sequences[i];
        return {[=](int64_t m, int64_t turn) {
          if (m % series != i || turn != s->came) end.fail("a request came twice, out of order or to another series");
          s->came++;
          self->request(all[2 + 2 * i], caf::infinite, s->x).await([=](uint32_t x) {
            s->x = x;
            s->terms++;
            self->send(all[0], m, turn);
          });
        }};
      });
      node([i](event_based_actor*) -> behavior { return {[i](uint32_t x) { return next(i, x); }}; });
    }
  }
  void ops(int64_t n) override {
    asking.deal(n, [this](int64_t m, int64_t k) { left[m] = k, asked[m] += k; });
    end.begin(asking.busy);
    anon_send(all[0], ok_atom::value);
    end.wait();
  }
  void check() override {
    std::vector<int64_t> terms(series);
    for (int64_t m = 0; m < asks; m++) terms[m % series] += asked[m];
    for (int64_t i = 0; i < series; i++) {
      uint32_t x = begin;
      for (int64_t k = 0; k < terms[i]; k++) x = next(i, x);
      if (sequences[i].terms != terms[i] || sequences[i].x != x) throw drive::wrong("a series has other terms than it should");
    }
  }
};

// philosopher: 20 philosophers ask an arbiter for their forks, eat and give them back.
struct philosopher : base {
  static constexpr int64_t philosophers = 20;
  using hungry_atom = caf::atom_constant<caf::atom("hungry")>;
  using full_atom = caf::atom_constant<caf::atom("full")>;

  struct alignas(64) guest {
    int64_t meals = 0, eaten = 0, asked = 0;
  };
  std::vector<guest> guests{size_t(philosophers)};
  rota meals{philosophers};
  std::array<bool, philosophers> taken{};  // forks, the arbiter's; i lies to the left of philosopher i
  std::deque<int64_t> waiting;             // the arbiter's, and the next
  int64_t served = 0;

  // take takes or gives back both forks. It reports whether they were as they had to be.
  bool take(int64_t who, bool to) {
    bool &l = taken[who], &r = taken[(who + 1) % philosophers];
    if (l == to || r == to) return false;
    l = r = to;
    return true;
  }

  explicit philosopher(int processors) : base(processors) {
    node([this](event_based_actor* self) -> behavior {
      auto serve = [=](int64_t who) {
        if (!take(who, true)) return false;
        self->send(all[1 + who], ok_atom::value);
        return true;
      };
      return {
          [=](hungry_atom, int64_t who) {
            if (!serve(who)) waiting.push_back(who);
          },
          [=](full_atom, int64_t who, bool again) {
            if (!take(who, false)) end.fail("a philosopher has eaten without its forks");
            served++;
            if (again) waiting.push_back(who);
            waiting.erase(std::remove_if(waiting.begin(), waiting.end(), serve), waiting.end());
            if (!again) end.part();
          },
      };
    });
    for (int64_t i = 0; i < philosophers; i++) {
      node([this, i](event_based_actor* self) -> behavior {
        guest* g = &guests[i];
        return {[=](ok_atom) {
          if (g->meals == 0) end.fail("a philosopher was let eat twice");
          g->eaten++;
          self->send(all[0], full_atom::value, i, --g->meals > 0);
        }};
      });
    }
  }
  void ops(int64_t n) override {
    meals.deal(n, [this](int64_t i, int64_t k) { guests[i].meals = k, guests[i].asked += k; });
    end.begin(meals.busy);
    meals.each([this](int64_t i) { anon_send(all[0], hungry_atom::value, i); });
    end.wait();
  }
  void check() override {
    int64_t sum = 0;
    for (size_t i = 0; i < guests.size(); i++) {
      if (guests[i].eaten != guests[i].asked || taken[i]) throw drive::wrong("a philosopher has eaten more often or less than it should");
      sum += guests[i].eaten;
    }
    if (sum != served || !waiting.empty()) throw drive::wrong("the arbiter has served other meals than were eaten");
  }
};

// sieve: numbers go through filters, each of which keeps a thousand primes.
struct sieve : base {
  static constexpr uint32_t limit = 100000;
  static constexpr int64_t primes = 1000, filters = 10, chunk = 512;
  using mark_atom = caf::atom_constant<caf::atom("mark")>;

  struct alignas(64) filter {
    std::vector<uint32_t> has;
    uint32_t before = 0;
    int64_t came = 0, passed = 0;  // since the mark before
  };
  std::vector<filter> all_filters{size_t(filters)};
  std::vector<uint32_t> known;
  // The generator's.
  uint32_t next = 2;
  int64_t left = 0, out = 0, turn = 0, back = 0;

  explicit sieve(int processors) : base(processors) {
    std::vector<bool> composite(limit);
    for (uint32_t i = 2; i < limit; i++) {
      if (composite[i]) continue;
      known.push_back(i);
      for (uint64_t j = uint64_t(i) * i; j < limit; j += i) composite[j] = true;
    }
    node([this](event_based_actor* self) -> behavior {
      auto generate = [=] {
        if (left == 0) return;
        out++;
        int64_t k = std::min({left, chunk, int64_t(limit - next)});
        left -= k;
        for (int64_t i = 0; i < k; i++) self->send(all[1], next++);
        bool clear = next == limit;
        if (clear) next = 2;
        self->send(all[1], mark_atom::value, turn++, k, clear);
      };
      return {
          [=](ok_atom) {
            generate();
            generate();
          },
          [=](mark_atom, int64_t which, int64_t, bool) {
            if (which != back++) end.fail("a chunk has come back twice, or too early");
            out--;
            generate();
            if (out == 0) end.part();
          },
      };
    });
    for (int64_t i = 0; i < filters; i++) {
      all_filters[i].has.reserve(primes);
      node([this, i](event_based_actor* self) -> behavior {
        filter* f = &all_filters[i];
        int64_t to = (i + 2) % (1 + filters);
        return {
            [=](uint32_t n) {
              if (n <= f->before) end.fail("a number has come twice, or out of order");
              f->before = n;
              f->came++;
              for (uint32_t p : f->has)
                if (n % p == 0) return;
              if (int64_t(f->has.size()) < primes) {
                f->has.push_back(n);
              } else {
                f->passed++;
                self->send(all[to], n);
              }
            },
            [=](mark_atom, int64_t which, int64_t count, bool clear) {
              if (count != f->came) end.fail("other numbers have come to a filter than were sent");
              int64_t passed = f->passed;
              f->came = f->passed = 0;
              if (clear) {
                if (!right(i, limit)) end.fail("a filter has other numbers than the primes that it should");
                f->has.clear();
                f->before = 0;
              }
              self->send(all[to], mark_atom::value, which, passed, clear);
            },
        };
      });
    }
  }
  // right reports whether a filter has the primes below n that it should.
  bool right(int64_t i, uint32_t n) {
    auto at = [this](int64_t k) { return known.begin() + std::min(k * primes, int64_t(known.size())); };
    std::vector<uint32_t> want(at(i), at(i + 1));
    while (!want.empty() && want.back() >= n) want.pop_back();
    return all_filters[i].has == want;
  }
  void ops(int64_t n) override {
    left = n;
    end.begin(1);
    anon_send(all[0], ok_atom::value);
    end.wait();
  }
  void check() override {
    for (int64_t i = 0; i < filters; i++)
      if (!right(i, next)) throw drive::wrong("a filter has other numbers than the primes that it should");
  }
};

// uct: a walk through an unbalanced tree of actors.
struct uct : base {
  static constexpr int64_t nodes = 2000, most = 10;
  using visit_atom = caf::atom_constant<caf::atom("visit")>;

  struct alignas(64) tree_node {
    int64_t parent = 0;
    std::vector<int64_t> children;
    uint32_t work = 0;
    int64_t open = 0, found = 0;  // of this walk: children that have not answered, nodes visited
    uint64_t sum = 0;
  };
  std::vector<tree_node> tree{size_t(nodes)};
  std::vector<uint64_t> up_to = std::vector<uint64_t>(nodes + 1);  // what so many first nodes find
  int64_t walks = 0, odd = 0;                                      // the root's in a slice, and the next two
  int64_t asked = 0, found = 0;
  uint64_t asked_sum = 0, found_sum = 0;

  uint64_t own(int64_t i) const { return drive::fill(uint32_t(i), tree[i].work); }

  explicit uct(int processors) : base(processors) {
    splitmix rnd{uint64_t(nodes)};
    for (int64_t i = 0, known = 1; i < nodes; i++) {
      tree[i].work = uint32_t(50 - 10 + rnd.below(21));
      up_to[i + 1] = up_to[i] + own(i);
      if (rnd.below(9) > 0 && known > i + 1) continue;
      for (; int64_t(tree[i].children.size()) < most && known < nodes; known++) {
        tree[known].parent = i;
        tree[i].children.push_back(known);
      }
    }
    for (int64_t i = 0; i < nodes; i++) {
      node([this, i](event_based_actor* self) -> behavior {
        tree_node* n = &tree[i];
        auto answer = [=] {
          if (n->open > 0) return;
          if (i > 0) {
            self->send(all[n->parent], i, n->found, n->sum);
            return;
          }
          found += n->found;
          found_sum += n->sum;
          if (int64_t first = walk()) {
            self->send(all[0], visit_atom::value, first);
          } else {
            end.part();
          }
        };
        return {
            [=](visit_atom, int64_t first) {
              if (n->open > 0) end.fail("a node was visited twice");
              n->found = 1;
              n->sum = own(i);
              for (int64_t c : n->children) {
                if (c >= first) break;
                n->open++;
                self->send(all[c], visit_atom::value, first);
              }
              answer();
            },
            [=](int64_t child, int64_t below, uint64_t sum) {
              if (n->open == 0 || tree[child].parent != i) end.fail("a node was answered twice, or another one was");
              n->open--;
              n->found += below;
              n->sum += sum;
              answer();
            },
        };
      });
    }
  }
  // walk returns how many nodes the next walk of this slice goes to; 0 is no walk.
  int64_t walk() {
    int64_t first = walks > 0 ? nodes : odd;
    if (walks > 0) {
      walks--;
    } else {
      odd = 0;
    }
    asked += first;
    asked_sum += up_to[first];
    return first;
  }
  void ops(int64_t n) override {
    walks = n / nodes;
    odd = n % nodes;
    end.begin(1);
    anon_send(all[0], visit_atom::value, walk());
    end.wait();
  }
  void check() override {
    if (found != asked || found_sum != asked_sum) throw drive::wrong("other nodes were visited than should be");
  }
};

// astar: a master hands the nodes of a grid out to workers, the most promising first.
struct astar : base {
  static constexpr int64_t workers = 20, problems = 8;
  static constexpr int32_t side = 30, nodes = side * side * side, weight = 10, buckets = 4 * weight * 3 * side;
  static constexpr uint32_t work = 10;  // rounds of the filler function to find out what a way costs

  struct handed {
    int32_t node = -1, cost = 0;
  };
  struct alignas(64) counter {
    int64_t done = 0;
  };
  std::vector<counter> done{size_t(workers)};
  int64_t asked = 0;
  // The master's.
  int64_t left = 0, out = 0, problem = 0;
  std::vector<handed> at_work{size_t(workers)};
  std::deque<int64_t> idle;
  int32_t goal = 0, best = INT_MAX, least = 0;
  std::vector<int32_t> costs;
  std::vector<std::vector<int32_t>> open{size_t(buckets)};  // nodes by the least that a way through them costs
  std::vector<int32_t> found = std::vector<int32_t>(problems);

  static int32_t way_cost(int32_t node, int32_t step) { return 1 + int32_t(drive::fill(uint32_t(node * 4 + step % 7), work) % uint32_t(weight)); }

  // ways_from are the neighbours of a node, each with what the way to it costs.
  static std::vector<int32_t> ways_from(int32_t node) {
    std::vector<int32_t> ways;
    ways.reserve(12);
    for (int32_t step = 1; step < nodes; step *= side) {
      int32_t at = node / step % side;
      if (at > 0) ways.insert(ways.end(), {node - step, way_cost(node - step, step)});
      if (at < side - 1) ways.insert(ways.end(), {node + step, way_cost(node, step)});
    }
    return ways;
  }
  // at_least is what a way between two nodes costs at least.
  static int32_t at_least(int32_t a, int32_t b) {
    int32_t sum = 0;
    for (int i = 0; i < 3; i++, a /= side, b /= side) sum += std::abs(a % side - b % side);
    return sum;
  }
  static std::pair<int32_t, int32_t> posed(int64_t i) {
    splitmix rnd{uint64_t(i)};
    int32_t from = rnd.below(nodes), to = rnd.below(nodes - 1);
    return {from, to + (to >= from)};
  }

  explicit astar(int processors) : base(processors) {
    for (int64_t i = 0; i < workers; i++) idle.push_back(i);
    pose();
    node([this](event_based_actor* self) -> behavior {
      return {
          [=](ok_atom) { hand_out(self); },
          [=](int64_t who, int32_t node, const std::vector<int32_t>& ways) {
            handed h = std::exchange(at_work[who], handed{});
            if (h.node != node) end.fail("a node was expanded twice, or by another worker");
            for (size_t i = 0; i < ways.size(); i += 2) improve(ways[i], h.cost + ways[i + 1]);
            out--;
            idle.push_back(who);
            hand_out(self);
          },
      };
    });
    for (int64_t i = 0; i < workers; i++) {
      node([this, i](event_based_actor* self) -> behavior {
        return {[=](int32_t node) {
          done[i].done++;
          self->send(all[0], i, node, ways_from(node));
        }};
      });
    }
  }
  void pose() {
    auto [from, to] = posed(problem % problems);
    goal = to;
    best = INT_MAX;
    costs.assign(nodes, INT_MAX);
    for (auto& b : open) b.clear();
    least = buckets;
    improve(from, 0);
  }
  void improve(int32_t node, int32_t cost) {
    if (cost >= costs[node]) return;
    costs[node] = cost;
    if (node == goal) {
      best = cost;
      return;
    }
    int32_t through = cost + at_least(node, goal);
    open[through].push_back(node);
    least = std::min(least, through);
  }
  // promising returns the open node through which a way to the goal may be the cheapest; -1 is none.
  int32_t promising() {
    for (; least < std::min(buckets, best); least++) {
      auto& bucket = open[least];
      while (!bucket.empty()) {
        int32_t node = bucket.back();
        bucket.pop_back();
        if (costs[node] + at_least(node, goal) == least) return node;  // or a cheaper way to it was found
      }
    }
    return -1;
  }
  void hand_out(event_based_actor* self) {
    while (left > 0 && !idle.empty()) {
      int32_t node = promising();
      if (node >= 0) {
        int64_t who = shift(idle);
        at_work[who] = {node, costs[node]};
        left--;
        out++;
        self->send(all[1 + who], node);
      } else if (out > 0) {
        return;  // what comes back may be better
      } else {
        int32_t& cost = found[problem % problems];
        if (cost != 0 && cost != best) end.fail("of the same two nodes another distance was found than before");
        cost = best;
        problem++;
        pose();
      }
    }
    if (left == 0 && out == 0) end.part();
  }
  void ops(int64_t n) override {
    left = n;
    asked += n;
    end.begin(1);
    anon_send(all[0], ok_atom::value);
    end.wait();
  }
  // check finds the distances by Dijkstra's algorithm.
  void check() override {
    int64_t sum = 0;
    for (auto& d : done) sum += d.done;
    if (sum != asked) throw drive::wrong("other nodes were expanded than were handed out");
    for (int64_t i = 0; i < problems; i++) {
      auto [from, to] = posed(i);
      if (found[i] != 0 && found[i] != distance(from, to)) throw drive::wrong("a way costs more than the cheapest one");
    }
  }
  static int32_t distance(int32_t from, int32_t to) {
    std::vector<int32_t> costs(nodes, INT_MAX);
    std::vector<std::vector<int32_t>> ring(weight + 1);  // nodes by cost
    costs[from] = 0;
    ring[0] = {from};
    for (int32_t cost = 0;; cost++) {
      std::vector<int32_t> bucket;
      bucket.swap(ring[cost % ring.size()]);
      for (int32_t node : bucket) {
        if (costs[node] != cost) continue;
        if (node == to) return cost;
        auto ways = ways_from(node);
        for (size_t i = 0; i < ways.size(); i += 2) {
          int32_t next = cost + ways[i + 1];
          if (next >= costs[ways[i]]) continue;
          costs[ways[i]] = next;
          ring[next % ring.size()].push_back(ways[i]);
        }
      }
    }
  }
};

}  // namespace savina
