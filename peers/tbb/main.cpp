// oneTBB on dyno's fork-join workloads. The idiom of its documentation
// (https://oneapi-src.github.io/oneTBB/main/tbb_userguide/Task-Based_Programming.html): a
// task_group, run for each child, wait. The number of threads is held by an arena and by
// global_control.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>

#include "../cpp/forkjoin.hpp"

using forkjoin::node;
using forkjoin::share;

static int fib(int n) {
  if (n < 2) return 1;
  int x, y;
  tbb::task_group g;
  g.run([&] { x = fib(n - 1); });
  g.run([&] { y = fib(n - 2); });
  g.wait();
  return x + y;
}

static uint32_t tree(node* n) {
  if (!n->left) return n->weight;
  uint32_t x, y;
  tbb::task_group g;
  g.run([&] { x = tree(n->left); });
  g.run([&] { y = tree(n->right); });
  g.wait();
  return n->weight + x + y;
}

static int sort(share s) {
  if (s.tasks == 1) {
    std::sort(s.begin, s.end);
    return 1;
  }
  auto [a, b] = forkjoin::divide(s);
  int x, y;
  tbb::task_group g;
  g.run([&, b = b] { y = sort(b); });
  x = sort(a);
  g.wait();
  return x + y;
}

struct by_tbb : forkjoin::solver {
  tbb::global_control threads;
  tbb::task_arena arena;
  explicit by_tbb(int processors) : threads(tbb::global_control::max_allowed_parallelism, size_t(processors)), arena(processors) {}
  int fib(int n) override {
    return arena.execute([&] { return ::fib(n); });
  }
  uint32_t tree(node* root) override {
    return arena.execute([&] { return ::tree(root); });
  }
  int sort(share s) override {
    return arena.execute([&] { return ::sort(s); });
  }
};

int main() {
  auto made = std::string("oneTBB ") + TBB_runtime_version() + ", GCC " + __VERSION__ + " " + FLAGS;
  return drive::serve(forkjoin::benches("peer-tbb", [](int p) { return std::make_unique<by_tbb>(p); }), made);
}
