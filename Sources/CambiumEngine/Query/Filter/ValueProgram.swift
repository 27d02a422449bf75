import CambiumKernel

/// The program of an expression, with its memory.
final class ValueProgram {
  private let program: RegisterProgram
  private let characters: UnsafeMutablePointer<UInt8>

  /// Nil if the evaluator has to be asked for the expression.
  init?(_ expression: Expression, _ reader: PathReader, _ layout: EntityLayout) {
    guard let made = RegisterCompiler.compile(expression, reader, layout) else { return nil }
    (program, characters) = made
  }

  deinit {
    program.deallocate()
    characters.deallocate()
  }

  /// What the expression gives for a record; nil if the evaluator has to be asked.
  func value(_ record: RecordView) throws(EngineError) -> Value? {
    do throws(StoreError) { try program.run(record) } catch { throw .store(error) }
    return program.registers[program.result].value
  }
}
