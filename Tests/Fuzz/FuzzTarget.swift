/// What is fuzzed. Each target takes any bytes and answers what is wrong with what the code made of them; a trap, a
/// hang and an access out of bounds are found by whoever runs it: libFuzzer (`.ci/fuzz`), or a test that replays
/// inputs.
enum FuzzTarget: String, CaseIterable, Sendable {
  /// Any file is opened.
  case open
  /// A valid store is changed, its checksums made right, and everything is done with it.
  case mended
  /// Any records stand in the log, with right checksums.
  case log
  /// Any bytes stand where a page is expected, with a right checksum.
  case page
  /// Any bytes are read as a row.
  case record
  /// Keys keep the order of values; what is decoded is what was encoded.
  case key
  /// Any text is read as a predicate.
  case predicate
  /// Any bytes are read as a stored model.
  case model
  /// Any bytes are read as XML, as a property list and as a model file.
  case xml
  /// Any text is read as a class with `@Model`, and any bytes as a message of the compiler.
  case macros
  /// Any texts are moved as sources of Core Data.
  case mover
  /// A store of objects whose rows, indexes and catalogue hold other bytes.
  case entities
  /// A program of operations, with crashes and faults, is compared with sorted arrays.
  case operations

  /// What is wrong; nil if nothing is.
  func problem(_ bytes: UnsafeRawBufferPointer) -> String? {
    switch self {
    case .open: OpenTarget.problem([UInt8](bytes))
    case .mended: MendedTarget.problem(FuzzInput(bytes))
    case .log: LogTarget.problem(FuzzInput(bytes))
    case .page: PageTarget.problem(FuzzInput(bytes))
    case .record: RecordTarget.problem(FuzzInput(bytes))
    case .key: KeyTarget.problem(FuzzInput(bytes))
    case .predicate: PredicateTarget.problem(FuzzInput(bytes))
    case .model: ModelTarget.problem([UInt8](bytes))
    case .xml: XMLTarget.problem([UInt8](bytes))
    case .macros: MacroTarget.problem(FuzzInput(bytes))
    case .mover: MoverTarget.problem([UInt8](bytes))
    case .entities: EntitiesTarget.problem(FuzzInput(bytes))
    case .operations: OperationsTarget.problem(FuzzInput(bytes))
    }
  }
}
