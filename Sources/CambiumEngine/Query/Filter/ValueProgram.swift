import CambiumKernel

/// A program with its memory. It reads the values behind to-one relationships that the program asks for.
final class ValueProgram {
  private let program: RegisterProgram
  private let paths: [String]
  private let reader: PathReader
  private let layout: EntityLayout

  /// The program of an expression; nil if the evaluator has to be asked.
  init?(_ expression: Expression, _ reader: PathReader, _ layout: EntityLayout) {
    guard let made = RegisterCompiler.compile(expression, reader, layout) else { return nil }
    (program, paths) = made
    self.reader = reader
    self.layout = layout
  }

  /// The program of a comparison, likewise.
  init?(_ comparison: Comparison, _ reader: PathReader, _ layout: EntityLayout) {
    guard let made = RegisterCompiler.compile(comparison, reader, layout) else { return nil }
    (program, paths) = made
    self.reader = reader
    self.layout = layout
  }

  deinit { program.deallocate() }

  /// The steps, to be followed without counting references. Good as long as this is.
  var steps: RegisterProgram { program }

  /// How many paths lead to other objects.
  var pathCount: Int { paths.count }

  /// Whether the program reads rows of other objects.
  var readsElsewhere: Bool { !paths.isEmpty }

  /// The result for a record, of kind `unknown` if the evaluator has to be asked.
  func result(_ record: RecordView, _ reference: ObjectReference) throws(EngineError) -> Register {
    // Each round but the last one reads one path.
    for _ in 0...paths.count {
      let result: Register
      do throws(StoreError) { result = try program.run(record) } catch { throw .store(error) }
      guard result.kind == .missing else { return result }
      let place = Int(result.count)
      guard place < paths.count else { return .unknown }
      let path = try reader.path(paths[place], layout)
      guard let object = try reader.destination(path, record) else { return .unknown }
      program.known[place].learn(object, try reader.value(path, record, reference, isKept: false))
    }
    return .unknown
  }
}
