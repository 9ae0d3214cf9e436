import com.sun.management.OperatingSystemMXBean;
import java.io.*;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/**
 * Java's ForkJoinPool on dyno's fork-join workloads, over dyno's driving protocol
 * (internal/program/PROTOCOL.md). The idiom is that of RecursiveTask's documentation: fork one
 * part, compute the other, join. Inputs and checks are those of workloads/task_fib.go,
 * task_tree.go and task_quicksort.go.
 */
public final class Main {
  static final String COLUMN = "peer-java";

  /** What is wrong with a result. */
  static final class Wrong extends RuntimeException {
    Wrong(String what) { super(what); }
  }

  /** A problem, which is solved again and again. */
  interface Problem {
    int operations();
    void solve(ForkJoinPool pool);
  }

  static Problem problem(String workload) {
    switch (workload) {
      case "fib": return new Fib();
      case "tree": return new Tree();
      case "quicksort": return new Quicksort();
    }
    return null;
  }

  static int fill(int x, int rounds) {
    for (; rounds > 0; rounds--) x = Integer.rotateLeft(x * 0x9e3779b1, 15) ^ 0x85ebca6b;
    return x;
  }

  static final class Fib implements Problem {
    static final class Call extends RecursiveTask<Integer> {
      final int n;
      Call(int n) { this.n = n; }
      @Override protected Integer compute() {
        if (n < 2) return 1;
        Call a = new Call(n - 1);
        a.fork();
        return new Call(n - 2).compute() + a.join();
      }
    }
    public int operations() { return 57313; }
    public void solve(ForkJoinPool pool) {
      if (pool.invoke(new Call(22)) != 28657) throw new Wrong("another Fibonacci number");
    }
  }

  static final class Tree implements Problem {
    static final class Node {
      final int weight;
      Node left, right;
      Node(int weight) { this.weight = weight; }
    }
    static final class Sum extends RecursiveTask<Integer> {
      final Node node;
      Sum(Node node) { this.node = node; }
      @Override protected Integer compute() {
        if (node.left == null) return node.weight;
        Sum a = new Sum(node.left);
        a.fork();
        return node.weight + new Sum(node.right).compute() + a.join();
      }
    }
    final Node[] nodes = new Node[(1 << 16) - 1];
    int want;
    Tree() {
      for (int i = 0; i < nodes.length; i++) {
        nodes[i] = new Node(fill(i, 3));
        want += nodes[i].weight;
      }
      for (int i = 0; 2 * i + 2 < nodes.length; i++) {
        nodes[i].left = nodes[2 * i + 1];
        nodes[i].right = nodes[2 * i + 2];
      }
    }
    public int operations() { return nodes.length; }
    public void solve(ForkJoinPool pool) {
      if (pool.invoke(new Sum(nodes[0])) != want) throw new Wrong("another sum of the tree");
    }
  }

  /** Numbers are signed here: those of dyno with their highest bit turned, so that the order is the same. */
  static final class Quicksort implements Problem {
    static final int TASKS = 256, GRAIN = 512;
    final int[] from = new int[TASKS * GRAIN], data = new int[from.length];
    long want;
    Quicksort() {
      for (int i = 0; i < from.length; i++) {
        from[i] = fill(i, 3) ^ Integer.MIN_VALUE;
        want += mark(from[i]);
      }
    }
    static long mark(int v) {
      long m = ((v ^ Integer.MIN_VALUE) & 0xffffffffL) * 0x9e3779b97f4a7c15L;
      return m ^ Long.rotateLeft(m, 29);
    }
    static int partition(int[] d, int begin, int end) {
      int a = d[begin], b = d[begin + (end - begin) / 2], c = d[end - 1];
      int median = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
      for (int i = begin - 1, j = end; ; ) {
        do i++; while (d[i] < median);
        do j--; while (d[j] > median);
        if (i >= j) return j + 1;
        int v = d[i];
        d[i] = d[j];
        d[j] = v;
      }
    }
    static final class Share extends RecursiveTask<Integer> {
      final int[] d;
      final int begin, end, tasks;
      Share(int[] d, int begin, int end, int tasks) {
        this.d = d;
        this.begin = begin;
        this.end = end;
        this.tasks = tasks;
      }
      @Override protected Integer compute() {
        if (tasks == 1) {
          Arrays.sort(d, begin, end);
          return 1;
        }
        int n = end - begin, at = begin, k = 1;
        if (n > 0) {
          at = partition(d, begin, end);
          k = Math.min(Math.max((tasks * (at - begin) + n / 2) / n, 1), tasks - 1);
        }
        Share b = new Share(d, at, end, tasks - k);
        b.fork();
        return new Share(d, begin, at, k).compute() + b.join();
      }
    }
    public int operations() { return TASKS; }
    public void solve(ForkJoinPool pool) {
      System.arraycopy(from, 0, data, 0, data.length);
      if (pool.invoke(new Share(data, 0, data.length, TASKS)) != TASKS) throw new Wrong("another number of tasks");
      int before = Integer.MIN_VALUE;
      long sum = want;
      for (int v : data) {
        if (v < before) throw new Wrong("the numbers are not in order");
        before = v;
        sum -= mark(v);
      }
      if (sum != 0) throw new Wrong("other numbers than there were");
    }
  }

  public static void main(String[] args) throws Exception {
    String drive = System.getenv("DYNO_DRIVE");
    if (drive == null) {
      System.err.println("This program speaks dyno's driving protocol: benchrun peers run measures it.");
      System.exit(2);
    }
    String name = "", processors = "1", slow = "0", protocol = "";
    for (String f : drive.split(" ")) {
      if (f.equals("list")) {
        System.out.println("pkg: github.com/dynolab/dyno/peers");
        System.out.println("made: OpenJDK " + System.getProperty("java.runtime.version") + ", "
            + String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments()));
        for (String w : new String[] {"fib", "tree", "quicksort"}) System.out.println(benchmark(w));
        return;
      }
      if (f.startsWith("name=")) name = f.substring(5);
      if (f.startsWith("processors=")) processors = f.substring(11);
      if (f.startsWith("slow=")) slow = f.substring(5);
      if (f.startsWith("protocol=")) protocol = f.substring(9);
    }
    BufferedReader in = new BufferedReader(new InputStreamReader(new FileInputStream("/proc/self/fd/3"), StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(new FileOutputStream("/proc/self/fd/4"), true, StandardCharsets.UTF_8);
    if (!protocol.equals("1") || Double.parseDouble(slow) != 0) {
      out.print("refused\t\"it speaks version 1 of the protocol, and does not slow itself down\"\n");
      return;
    }
    String workload = name.replaceAll(".*workload=([a-z]*)/.*", "$1");
    Problem problem = problem(workload);
    if (problem == null || !name.equals(benchmark(workload))) System.exit(2);
    try {
      drive(problem, new ForkJoinPool(Integer.parseInt(processors)), in, out);
    } catch (Wrong e) {
      out.print("failed\t\"" + e.getMessage() + "\"\n");
    }
    System.exit(0);
  }

  static String benchmark(String workload) { return "BenchmarkTask/workload=" + workload + "/impl=" + COLUMN; }

  static void drive(Problem problem, ForkJoinPool pool, BufferedReader in, PrintStream out) throws IOException {
    OperatingSystemMXBean os = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    out.print("hello\tsession\t" + problem.operations() + "\n");
    for (String line; (line = in.readLine()) != null; ) {
      String[] words = line.split(" ");
      switch (words[0]) {
        case "run": case "call": {
          long n = Long.parseLong(words[1]), cpu = os.getProcessCpuTime(), begin = System.nanoTime();
          for (long k = n; k > 0; k -= problem.operations()) problem.solve(pool);
          long time = System.nanoTime() - begin;
          out.print("slice\t" + n + "\t" + time + "\t" + (os.getProcessCpuTime() - cpu) + "\n");
          break;
        }
        case "usage": out.print("usage\t" + os.getProcessCpuTime() + "\n"); break;
        case "reset": out.print("reset\n"); break;
        case "profile": case "endprofile": out.print("profile\t\"no profiles\"\n"); break;
        case "finish": out.print("result\n"); return;
        default: System.exit(3);
      }
    }
  }
}
