import CambiumKernel

/// Reads the same expressions of row after row. Where they lie in rows of a layout is looked up once for each run of
/// it.
final class ValuesReader {
  private let reader: PathReader
  private let expressions: [Expression]
  private var layoutID: UInt16?
  private var sources: [Source] = []

  /// Where an expression's values come from, in rows of the layout that was met last.
  private enum Source {
    case constant(Value)
    case identity
    case field(FieldPath, AttributeSchema)
    case path(PathReader.CompiledPath)
    /// Computed from columns of the row, if the program can tell; else by the evaluator.
    case program(ValueProgram, Expression)
    case evaluator(Expression)
  }

  init(_ view: EntityView, _ expressions: [Expression]) {
    reader = PathReader(view: view)
    self.expressions = expressions
    // Key paths and constants need neither time nor chance, which are asked of the system.
    for expression in expressions {
      switch expression {
      case .constant, .evaluatedObject, .keyPath: continue
      default:
        reader.prepare()
        return
      }
    }
  }

  /// Adds what a row has of each expression to `values`.
  func read(_ row: borrowing RowReader, into values: inout [Value]) throws(EngineError) {
    if layoutID != row.layoutID { try change(to: row.layout) }
    for i in sources.indices { values.append(try value(i, of: row)) }
  }

  /// What a row has of the first expression.
  func first(of row: borrowing RowReader) throws(EngineError) -> Value {
    if layoutID != row.layoutID { try change(to: row.layout) }
    return sources.isEmpty ? .null : try value(0, of: row)
  }

  private func value(_ i: Int, of row: borrowing RowReader) throws(EngineError) -> Value {
    let record = row.record
    switch sources[i] {
    case .constant(let value): return value
    case .identity: return .reference(row.reference)
    case .field(let path, let attribute):
      do throws(StoreError) {
        guard let parent = try path.parent(in: record) else { return .null }
        return try parent.value(attribute, at: path.leaf)
      } catch { throw .store(error) }
    case .path(let path): return try reader.value(path, record, row.reference)
    case .program(let program, let expression):
      if let value = try program.result(record, row.reference).value { return value }
      return try reader.value(of: expression, record, row.layout, row.reference)
    case .evaluator(let expression):
      return try reader.value(of: expression, record, row.layout, row.reference)
    }
  }

  private func change(to layout: EntityLayout) throws(EngineError) {
    // If a path is refused, nothing is left of the layout before.
    layoutID = nil
    var sources: [Source] = []
    for expression in expressions {
      switch expression {
      case .constant(let value): sources.append(.constant(value))
      case .evaluatedObject: sources.append(.identity)
      case .keyPath(let path):
        if let (field, attribute) = reader.field(path, layout) {
          sources.append(.field(field, attribute))
        } else {
          sources.append(.path(try reader.path(path, layout)))
        }
      default:
        if !leavesAllToEvaluator, let program = ValueProgram(expression, reader, layout) {
          sources.append(.program(program, expression))
        } else {
          sources.append(.evaluator(expression))
        }
      }
    }
    self.sources = sources
    layoutID = layout.id
  }
}
