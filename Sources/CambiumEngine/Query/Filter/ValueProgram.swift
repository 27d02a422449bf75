import CambiumKernel

/// The program of an expression, with its memory.
final class ValueProgram {
  private let program: RegisterProgram

  /// Nil if the evaluator has to be asked for the expression.
  init?(_ expression: Expression, _ reader: PathReader, _ layout: EntityLayout) {
    guard let made = RegisterCompiler.compile(expression, reader, layout) else { return nil }
    program = made
  }

  deinit {
    program.deallocate()
  }

  /// What the expression gives for a record; nil if the evaluator has to be asked.
  func value(_ record: RecordView) throws(EngineError) -> Value? {
    do throws(StoreError) { return try program.run(record).value } catch { throw .store(error) }
  }
}
