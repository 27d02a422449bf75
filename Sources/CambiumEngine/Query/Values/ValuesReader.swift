import CambiumKernel

/// Reads the same expressions of row after row. Where they lie in rows of a layout is looked up once for each run of it.
final class ValuesReader {
  private let reader: PathReader
  private let expressions: [Expression]
  private var layoutID: UInt16?
  private var fields: [(FieldPath, AttributeSchema)?] = []

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
    if layoutID != row.layoutID { change(to: row.layout) }
    for i in expressions.indices {
      if let field = fields[i] {
        values.append(try value(field, of: row))
        continue
      }
      switch expressions[i] {
      case .constant(let value): values.append(value)
      case .evaluatedObject: values.append(.reference(row.reference))
      case .keyPath(let path):
        values.append(try reader.value(path, row.record, row.layout, row.reference))
      default: values.append(try reader.value(of: expressions[i], row.record, row.layout, row.reference))
      }
    }
  }

  /// What a row has of the first expression, which is a key path.
  func first(of row: borrowing RowReader) throws(EngineError) -> Value {
    if layoutID != row.layoutID { change(to: row.layout) }
    if let field = fields.first ?? nil { return try value(field, of: row) }
    var values: [Value] = []
    try read(row, into: &values)
    return values.first ?? .null
  }

  private func value(
    _ field: (path: FieldPath, attribute: AttributeSchema), of row: borrowing RowReader
  ) throws(EngineError) -> Value {
    let record = row.record
    return try storing { () throws(StoreError) in
      guard let parent = try field.path.parent(in: record) else { return .null }
      return try parent.value(field.attribute, at: field.path.leaf)
    }
  }

  private func change(to layout: EntityLayout) {
    layoutID = layout.id
    fields = []
    for expression in expressions {
      if case .keyPath(let path) = expression {
        fields.append(reader.field(path, layout))
      } else {
        fields.append(nil)
      }
    }
  }
}
