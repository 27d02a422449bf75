// A process of its own that counts the heap that a store takes.
//
//     MemoryWorker kernel small <rows>     a kernel store with `StoreOptions.small`
//     MemoryWorker logger small <rows>     an entity store with them
//     MemoryWorker kernel default <rows>   with the default options
//
// It prints a line for each step: its name, the most bytes of heap during it, and the bytes that are left after it.
#if canImport(Glibc)
  import CambiumKernel

  struct Failure: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }

  let arguments = CommandLine.arguments
  guard arguments.count == 4, let count = Int(arguments[3]) else { throw Failure("what to run?") }
  let options = arguments[2] == "small" ? StoreOptions.small : StoreOptions()

  func run(_ count: Int, _ report: @escaping (String) -> Void) throws {
    if arguments[1] == "kernel" {
      var run = KernelRun(options: options, count: UInt64(count), report: report)
      try run.run()
    } else {
      try LoggerRun(options: options, count: count, report: report).run()
    }
  }

  // What the language's runtime makes once, when a type is first used, does not count.
  try run(100) { _ in }
  Heap.begin()
  try run(count) { step in
    print("\(step)\t\(Heap.peakBytes)\t\(Heap.liveBytes)")
    Heap.restartPeak()
  }
#endif
