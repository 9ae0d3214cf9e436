// The C++ Actor Framework on dyno's workloads of actors. The idiom of its manual
// (https://actor-framework.readthedocs.io/): event-based actors with a behavior, send, request
// and then, on its work-stealing scheduler with so many threads. Protocols, numbers and checks
// are those of workloads/rings.go, funnel.go, actor_ask.go, actor_latency.go and actor_spawn.go;
// what nodes have counted is looked at while none has anything to do.
#include <thread>

#include "base.hpp"
#include "savina.hpp"

using namespace caf;

namespace {

// rings: tokens go round; a hop is an operation.
struct rings : base {
  struct node {
    int ring;
    uint64_t weight;
    int64_t visits = 0;
    actor next;
  };
  int64_t size;
  std::vector<node> nodes;
  std::vector<int64_t> hops;
  std::vector<uint64_t> sums;
  int64_t first = 0;

  rings(int processors, int count, int size) : base(processors), size(size), nodes(count * size), hops(count), sums(count) {
    for (size_t i = 0; i < nodes.size(); i++) {
      node* n = &nodes[i];
      n->ring = int(i) / size;
      n->weight = drive::fill(uint32_t(i), 2);
      all.push_back(sys.spawn([this, n](event_based_actor* self) -> behavior {
        return {[this, n, self](int64_t left, uint64_t sum) {
          n->visits++;
          sum += n->weight;
          if (left > 1) {
            self->send(n->next, left - 1, sum);
            return;
          }
          sums[n->ring] = sum;
          end.part();
        }};
      }));
    }
    for (size_t i = 0; i < nodes.size(); i++) nodes[i].next = all[(i + 1) % size == 0 ? i + 1 - size : i + 1];
    ops(int64_t(nodes.size()));
  }
  ~rings() override {
    for (auto& n : nodes) n.next = nullptr;
    stop();
  }
  void ops(int64_t n) override {
    int64_t count = int64_t(hops.size()), moving = std::min(n, count);
    end.begin(moving);
    for (int64_t i = 0; i < moving; i++) {
      int64_t r = (first + i) % count, k = share(n, i, count);
      actor at = all[r * size + hops[r] % size];
      hops[r] += k;
      anon_send(at, k, sums[r]);
    }
    first = (first + n) % count;
    end.wait();
  }
  void check() override {
    for (size_t r = 0; r < hops.size(); r++) {
      uint64_t sum = 0;
      for (int64_t p = 0; p < size; p++) {
        node& n = nodes[r * size + p];
        if (n.visits != share(hops[r], p, size)) throw drive::wrong("a node had the token too often or too rarely");
        sum += uint64_t(n.visits) * n.weight;
      }
      if (sum != sums[r]) throw drive::wrong("a token has added up something else than it saw");
    }
  }
};

constexpr int32_t notes = 1021;
constexpr int64_t window = 1024, credit = 256;

// funnel: senders send to one sink, no more than window of each under way.
struct funnel : base {
  struct sender {
    std::vector<uint32_t> values;
    int32_t next = 0;
    int64_t left = 0, free = window, sent = 0;
  };
  struct inbound {
    int32_t next = 0;
    int64_t count = 0, owed = 0;
    uint64_t sum = 0;
  };
  std::vector<sender> senders;
  std::vector<inbound> in;
  actor sink;
  int64_t left = 0;  // of the sink, written between two slices
  int64_t odd = 0;

  funnel(int processors, int count) : base(processors), senders(count), in(count) {
    sink = sys.spawn([this](event_based_actor* self) -> behavior {
      return {[this, self](int32_t from, int32_t index, uint32_t value) {
        inbound& i = in[from];
        if (i.next != index) end.fail("a message came out of order, or twice");
        i.next = (i.next + 1) % notes;
        i.count++;
        i.sum += value;
        if (++i.owed == credit) {
          i.owed = 0;
          self->send(all[from], ok_atom::value);
        }
        if (--left == 0) end.part();
      }};
    });
    for (int f = 0; f < count; f++) {
      sender* s = &senders[f];
      for (int32_t i = 0; i < notes; i++) s->values.push_back(drive::fill(uint32_t(f * notes + i), 2));
      all.push_back(sys.spawn([this, s, f](event_based_actor* self) -> behavior {
        auto go = [this, s, f, self] {
          for (; s->left > 0 && s->free > 0; s->left--, s->free--) {
            self->send(sink, int32_t(f), s->next, s->values[s->next]);
            s->next = (s->next + 1) % notes;
          }
        };
        return {
            [s, go](int64_t quota) {
              s->left = quota;
              go();
            },
            [s, go](ok_atom) {
              s->free += credit;
              go();
            },
        };
      }));
    }
  }
  ~funnel() override {
    anon_send_exit(sink, exit_reason::user_shutdown);
    sink = nullptr;
    stop();
  }
  void ops(int64_t n) override {
    int64_t k = int64_t(senders.size());
    end.begin(1);
    left = n;
    for (int64_t i = 0; i < k; i++) {
      int64_t at = (odd + i) % k, quota = share(n, i, k);
      senders[at].sent += quota;
      if (quota > 0) anon_send(all[at], quota);
    }
    odd = (odd + n) % k;
    end.wait();
  }
  void check() override {
    for (size_t f = 0; f < senders.size(); f++) {
      uint64_t sum = 0;
      int64_t n = senders[f].sent;
      for (int32_t i = 0; i < notes; i++) sum += senders[f].values[i] * uint64_t(n / notes + (i < n % notes ? 1 : 0));
      if (in[f].count != n || in[f].sum != sum) throw drive::wrong("the messages that came were not those that were sent");
    }
  }
};

// ask: a client sends a request, waits for the reply, sends the next.
struct ask : base {
  uint32_t x = 0;
  int64_t left = 0, asked = 0, served = 0;
  uint64_t want = 0, sum = 0;

  explicit ask(int processors) : base(processors) {
    auto server = sys.spawn([this]() -> behavior {
      return {[this](uint32_t x) {
        served++;
        return drive::fill(x, 1);
      }};
    });
    auto client = sys.spawn([this, server](event_based_actor* self) -> behavior {
      return {[this, self, server](ok_atom) { next(self, server); }};
    });
    all = {client, server};
  }
  void next(event_based_actor* self, const actor& server) {
    x = x * 0x9e3779b1u + 1;
    want += drive::fill(x, 1);
    left--;
    self->request(server, infinite, x).then([this, self, server](uint32_t y) {
      sum += y;
      if (left == 0) {
        end.part();
      } else {
        next(self, server);
      }
    });
  }
  void ops(int64_t n) override {
    end.begin(1);
    left = n;
    asked += n;
    anon_send(all[0], ok_atom::value);
    end.wait();
  }
  void check() override {
    if (served != asked || sum != want) throw drive::wrong("the replies were not those to the requests");
  }
};

// latency: messages come from outside at fixed times, whether those before them were handled or
// not. The one who sends yields meanwhile, as timers are too coarse.
struct latency : base {
  int64_t interval, sent = 0, next = 0;
  int64_t last = 0;         // of the actor, written between two slices
  std::vector<int64_t> had;  // latencies in nanoseconds, the actor's within a slice

  latency(int processors, int64_t interval) : base(processors), interval(interval) {
    all.push_back(sys.spawn([this]() -> behavior {
      return {[this](int64_t seq, int64_t due) {
        had.push_back(drive::now() - due);
        if (seq != next) end.fail("a message came out of order, or twice");
        if (++next == last) end.part();
      }};
    }));
  }
  void ops(int64_t n) override {
    end.begin(1);
    last = sent + n;
    for (int64_t due = drive::now(); sent < last; sent++, due += interval) {
      while (drive::now() < due) std::this_thread::yield();
      anon_send(all[0], sent, due);
    }
    end.wait();
  }
  void reset() override { had.clear(); }
  std::vector<std::pair<std::string, double>> figures() override { return drive::latency_figures(had); }
};

// crowd: actors are made, 100,000 at a time, and sent a message each; then all stop.
struct crowd : base {
  using base::base;
  void ops(int64_t n) override {
    constexpr int64_t most = 100000;
    for (; n > 0; n -= most) {
      int64_t k = std::min(n, most);
      end.begin(k);
      for (int64_t i = 0; i < k; i++) {
        all.push_back(sys.spawn([this, i]() -> behavior {
          return {[this, i](int64_t id) {
            if (id != i) end.fail("an actor had another's message");
            end.part();
          }};
        }));
        anon_send(all.back(), i);
      }
      end.wait();
      drive::pause([this] { stop(); });
    }
  }
};

template <class T, class... As>
drive::bench bench(const char* workload, int64_t unit, As... as) {
  return {std::string("Actor/workload=") + workload + "/impl=peer-caf", unit, [=](int p) { return std::make_unique<T>(p, as...); }};
}

}  // namespace

int main() {
  auto made = "CAF " + std::to_string(CAF_VERSION) + ", GCC " + __VERSION__ + " " + FLAGS;
  return drive::serve({bench<rings>("pingpong", 1, 1, 2), bench<rings>("ring", 100, 1, 100), bench<rings>("pairs", 2000, 1000, 2),
                       bench<funnel>("count", 1, 1), bench<funnel>("fanin", 1, 8), bench<ask>("ask", 1), bench<latency>("latency1k", 1, 1000000),
                       bench<latency>("latency100k", 1, 10000), bench<crowd>("spawn", 1),
                       bench<savina::astar>("savina/program=astar", 1), bench<savina::banking>("savina/program=banking", 1),
                       bench<savina::barber>("savina/program=barber", 1), bench<savina::bndbuffer>("savina/program=bndbuffer", 1),
                       bench<savina::dict<savina::table>>("savina/program=concdict", 1), bench<savina::dict<savina::list>>("savina/program=concsll", 1),
                       bench<savina::fjthrput>("savina/program=fjthrput", 1), bench<savina::logmap>("savina/program=logmap", 1),
                       bench<savina::philosopher>("savina/program=philosopher", 1), bench<savina::sieve>("savina/program=sieve", 99998),
                       bench<savina::uct>("savina/program=uct", 2000)},
                      made);
}
