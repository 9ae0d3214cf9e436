// drive.hpp speaks dyno's driving protocol (internal/program/PROTOCOL.md) for peers in C++.
//
// A program lists its benchmarks and hands them to drive::serve. A benchmark is prepared once
// and runs slices; what is wrong with a result it throws, and then has no figure.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace drive {

// wrong is thrown if a result is not what it has to be.
struct wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// run is a prepared benchmark.
struct run {
  virtual ~run() = default;
  // ops performs exactly n operations, a multiple of the unit, and checks them.
  virtual void ops(int64_t n) = 0;
  // check says after the last slice whether everything is accounted for, by throwing.
  virtual void check() {}
  // reset forgets the figures of all slices so far, which were to warm up.
  virtual void reset() {}
  // figures are those beside the time, each with its unit.
  virtual std::vector<std::pair<std::string, double>> figures() { return {}; }
};

// latencies are the percentiles of a latency by their units, as dyno's workloads have them.
inline const std::vector<std::pair<std::string, double>> latencies = {{"p50-ns", 50}, {"p99-ns", 99}, {"p99.9-ns", 99.9}, {"max-ns", 100}};

// latency_figures are the figures of a latency in nanoseconds.
inline std::vector<std::pair<std::string, double>> latency_figures(std::vector<int64_t>& all) {
  std::sort(all.begin(), all.end());
  auto figures = latencies;
  for (auto& [unit, v] : figures) v = double(all.at(std::max(size_t(std::ceil(double(all.size()) * v / 100)), size_t(1)) - 1));
  return figures;
}

struct bench {
  std::string name;  // "Task/workload=fib/impl=peer-tbb"
  int64_t unit;      // operations of the smallest whole piece of work
  std::function<std::unique_ptr<run>(int processors)> prepare;
};

// cpu returns the processor time of all threads in nanoseconds.
inline int64_t cpu() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000LL + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000LL;
}

inline int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// paused is the time and the processor time that belong to no operation of a slice.
struct used {
  int64_t time = 0, cpu = 0;
};
inline used& paused() {
  static used u;
  return u;
}

// pause does what takes no part in the time of a slice.
inline void pause(const std::function<void()>& f) {
  int64_t c = cpu(), t = now();
  f();
  paused().time += now() - t;
  paused().cpu += cpu() - c;
}

// quoted is a text as answers have it.
inline std::string quoted(const std::string& s) {
  std::string q = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') q += '\\';
    q += c == '\n' || c == '\t' ? ' ' : c;
  }
  return q + '"';
}

// fields are those of DYNO_DRIVE.
struct fields {
  bool list = false;
  std::string name, protocol;
  int processors = 1;
  double slow = 0;

  explicit fields(const std::string& text) {
    std::istringstream in(text);
    for (std::string f; in >> f;) {
      auto value = [&](const char* key, std::string& to) {
        if (f.rfind(key, 0) == 0) to = f.substr(std::string(key).size());
      };
      std::string n, s;
      list = list || f == "list";
      value("name=", name);
      value("protocol=", protocol);
      value("processors=", n);
      value("slow=", s);
      if (!n.empty()) processors = std::stoi(n);
      if (!s.empty()) slow = std::stod(s);
    }
  }
};

// session answers commands until they end.
inline int session(const bench& b, const fields& f) {
  FILE* in = fdopen(3, "r");
  FILE* out = fdopen(4, "w");
  if (!in || !out) return 2;
  auto say = [&](const std::string& line) {
    std::fputs((line + "\n").c_str(), out);
    std::fflush(out);
  };
  if (f.protocol != "1" || f.slow != 0) {
    say("refused\t" + quoted("it speaks version 1 of the protocol, and does not slow itself down"));
    return 0;
  }
  try {
    auto r = b.prepare(f.processors);
    say("hello\tsession\t" + std::to_string(b.unit));
    for (char line[256]; std::fgets(line, sizeof line, in);) {
      std::istringstream words(line);
      std::string command;
      int64_t n = 0;
      words >> command >> n;
      if (command == "run" || command == "call") {
        paused() = {};
        int64_t c = cpu(), t = now();
        r->ops(n);
        t = now() - t - paused().time;
        c = cpu() - c - paused().cpu;
        say("slice\t" + std::to_string(n) + "\t" + std::to_string(t) + "\t" + std::to_string(c));
      } else if (command == "usage") {
        say("usage\t" + std::to_string(cpu()));
      } else if (command == "reset") {
        r->reset();
        say("reset");
      } else if (command == "profile" || command == "endprofile") {
        say("profile\t" + quoted("no profiles"));
      } else if (command == "finish") {
        r->check();
        std::ostringstream line;
        line << "result" << std::setprecision(17);
        for (auto& [unit, v] : r->figures()) line << "\tx:" << unit << '=' << v;
        r.reset();
        say(line.str());
        return 0;
      } else {
        return 3;
      }
    }
  } catch (const std::exception& e) {
    say("failed\t" + quoted(e.what()));
    std::fflush(out);
    std::_Exit(0);  // threads may hang where the error was
  }
  std::_Exit(0);  // the commands have ended
}

// serve is the program: made says with which versions and flags it was made.
inline int serve(const std::vector<bench>& all, const std::string& made) {
  const char* text = std::getenv("DYNO_DRIVE");
  if (!text) {
    std::cerr << "This program speaks dyno's driving protocol: benchrun peers run measures it.\n";
    return 2;
  }
  fields f(text);
  if (f.list) {
    std::cout << "pkg: github.com/dynolab/dyno/peers\nmade: " << made << "\n";
    for (auto& l : latencies) std::cout << "Unit " << l.first << " better=lower\n";
    for (auto& b : all) std::cout << "Benchmark" << b.name << "\n";
    return 0;
  }
  for (auto& b : all)
    if ("Benchmark" + b.name == f.name) return session(b, f);
  std::cerr << "no benchmark " << f.name << "\n";
  return 2;
}

// fill is the filler function of dyno's workloads: irregular numbers, the same everywhere.
inline uint32_t fill(uint32_t x, uint32_t rounds) {
  for (; rounds > 0; rounds--) {
    x *= 0x9e3779b1u;
    x = (x << 15 | x >> 17) ^ 0x85ebca6bu;
  }
  return x;
}

}  // namespace drive
