// forkjoin.hpp has the inputs and checks of dyno's workloads fib, tree and quicksort, as
// workloads/task_fib.go, task_tree.go and task_quicksort.go have them. What is the peer's is
// handed in: how a problem is solved.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "drive.hpp"

namespace forkjoin {

constexpr int fib_most = 22;
constexpr int64_t fib_calls = 57313;
constexpr int fib_value = 28657;  // the numbers begin with 1, 1

struct node {
  uint32_t weight;
  node *left, *right;
};

constexpr int tree_nodes = (1 << 16) - 1;

struct share {
  uint32_t *begin, *end;
  int tasks;
};

constexpr int sort_tasks = 256, sort_grain = 512;

// mark is a number's part of the sum that tells other numbers from those that there were.
inline uint64_t mark(uint32_t v) {
  uint64_t m = uint64_t(v) * 0x9e3779b97f4a7c15u;
  return m ^ (m << 29 | m >> 35);
}

// partition moves numbers until none of those before the place that it returns is larger than
// any from there on.
inline uint32_t* partition(uint32_t* begin, uint32_t* end) {
  uint32_t a = *begin, b = begin[(end - begin) / 2], c = end[-1];
  uint32_t median = std::max(std::min(a, b), std::min(std::max(a, b), c));
  uint32_t *i = begin - 1, *j = end;
  for (;;) {
    while (*++i < median) {
    }
    while (*--j > median) {
    }
    if (i >= j) return j + 1;
    std::swap(*i, *j);
  }
}

// divide makes two shares of s, the smaller numbers and the larger ones, and tasks in
// proportion, but one at least. s has more than one task.
inline std::pair<share, share> divide(share s) {
  int64_t n = s.end - s.begin, i = 0;
  int k = 1;
  if (n > 0) {
    i = partition(s.begin, s.end) - s.begin;
    k = int(std::min<int64_t>(std::max<int64_t>((s.tasks * i + n / 2) / n, 1), s.tasks - 1));
  }
  return {{s.begin, s.begin + i, k}, {s.begin + i, s.end, s.tasks - k}};
}

// How a peer solves each problem: fib(n), the sum over a tree, and how many tasks have sorted.
struct solver {
  virtual ~solver() = default;
  virtual int fib(int n) = 0;
  virtual uint32_t tree(node* root) = 0;
  virtual int sort(share s) = 0;
};

struct problem : drive::run {
  std::unique_ptr<solver> by;
  int64_t unit;
  problem(std::unique_ptr<solver> by, int64_t unit) : by(std::move(by)), unit(unit) {}
  virtual void once() = 0;
  void ops(int64_t n) override {
    if (n % unit) throw drive::wrong("asked for a part of a problem");
    for (; n > 0; n -= unit) once();
  }
};

struct fib_problem : problem {
  explicit fib_problem(std::unique_ptr<solver> s) : problem(std::move(s), fib_calls) {}
  void once() override {
    if (by->fib(fib_most) != fib_value) throw drive::wrong("another Fibonacci number");
  }
};

struct tree_problem : problem {
  std::vector<node> nodes;
  uint32_t want = 0;
  explicit tree_problem(std::unique_ptr<solver> s) : problem(std::move(s), tree_nodes), nodes(tree_nodes) {
    for (int i = 0; i < tree_nodes; i++) {
      bool inner = 2 * i + 2 < tree_nodes;
      nodes[i] = {drive::fill(uint32_t(i), 3), inner ? &nodes[2 * i + 1] : nullptr, inner ? &nodes[2 * i + 2] : nullptr};
      want += nodes[i].weight;
    }
  }
  void once() override {
    if (by->tree(nodes.data()) != want) throw drive::wrong("another sum of the tree");
  }
};

struct sort_problem : problem {
  std::vector<uint32_t> from, data;
  uint64_t want = 0;
  explicit sort_problem(std::unique_ptr<solver> s) : problem(std::move(s), sort_tasks), from(sort_tasks * sort_grain), data(from.size()) {
    for (size_t i = 0; i < from.size(); i++) {
      from[i] = drive::fill(uint32_t(i), 3);
      want += mark(from[i]);
    }
  }
  void once() override {
    data = from;
    if (by->sort({data.data(), data.data() + data.size(), sort_tasks}) != sort_tasks) throw drive::wrong("another number of tasks");
    uint32_t before = 0;
    uint64_t sum = want;
    for (uint32_t v : data) {
      if (v < before) throw drive::wrong("the numbers are not in order");
      before = v;
      sum -= mark(v);
    }
    if (sum != 0) throw drive::wrong("other numbers than there were");
  }
};

// benches are the three workloads for a column, whose solver make makes for so many threads.
inline std::vector<drive::bench> benches(const std::string& column, std::function<std::unique_ptr<solver>(int)> make) {
  return {
      {"Task/workload=fib/impl=" + column, fib_calls, [=](int p) { return std::make_unique<fib_problem>(make(p)); }},
      {"Task/workload=tree/impl=" + column, tree_nodes, [=](int p) { return std::make_unique<tree_problem>(make(p)); }},
      {"Task/workload=quicksort/impl=" + column, sort_tasks, [=](int p) { return std::make_unique<sort_problem>(make(p)); }},
  };
}

}  // namespace forkjoin
