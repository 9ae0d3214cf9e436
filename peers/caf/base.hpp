// base.hpp has what all workloads of actors on the C++ Actor Framework have in common.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "../cpp/drive.hpp"
#include "caf/all.hpp"

// gate is where the end of a slice is waited for; what was wrong first, it throws.
class gate {
 public:
  void begin(int64_t n) {
    std::unique_lock<std::mutex> l(mu_);
    parts_ = n;
  }
  void part() {
    std::unique_lock<std::mutex> l(mu_);
    if (--parts_ == 0) over_.notify_all();
  }
  void fail(const std::string& what) {
    std::unique_lock<std::mutex> l(mu_);
    if (wrong_.empty()) wrong_ = what;
    over_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> l(mu_);
    over_.wait(l, [this] { return parts_ == 0 || !wrong_.empty(); });
    if (!wrong_.empty()) throw drive::wrong(wrong_);
  }

 private:
  std::mutex mu_;
  std::condition_variable over_;
  int64_t parts_ = 0;   // guarded by mu_
  std::string wrong_;  // guarded by mu_
};

inline int64_t share(int64_t n, int64_t i, int64_t k) { return n / k + (i < n % k ? 1 : 0); }

struct config : caf::actor_system_config {
  explicit config(int processors) { set("scheduler.max-threads", static_cast<size_t>(processors)); }
};

// base has the actor system of a run, which ends with its actors.
struct base : drive::run {
  config cfg;
  caf::actor_system sys;
  gate end;
  std::vector<caf::actor> all;
  explicit base(int processors) : cfg(processors), sys(cfg) {}
  // node makes the next actor, which begins with make.
  template <class F>
  void node(F make) {
    all.push_back(sys.spawn(make));
  }
  void stop() {
    for (auto& a : all) caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
    all.clear();
    sys.registry().await_running_count_equal(0);
  }
  ~base() override { stop(); }
};
