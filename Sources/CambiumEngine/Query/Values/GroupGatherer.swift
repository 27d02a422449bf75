import CambiumKernel

/// Puts rows into groups, and gathers what the aggregates ask of each: from the rows as they lie where that tells, else
/// from their values.
final class GroupGatherer {
  private let design: ValuesDesign
  private let keyCount: Int
  private let paths: PathReader
  private let keyReader: ValuesReader
  /// The aggregates that values are read for, by place: first the `repeated` ones, for which each row counts.
  private let slow: [Int]
  private let repeated: Int
  private let slowReader: ValuesReader
  /// Reads the values of the other ones, the least and the greatest, for which it is enough to see each value once.
  private let onceReader: ValuesReader
  private let fast: [Int]
  /// Of the fetch's own layout.
  private let designed: [GroupNumbers.Source]
  /// Where the layout of the rows that come has what is asked; as many as there are keys, and as there are fast
  /// aggregates.
  private let keySources: UnsafeMutablePointer<GroupKeys.Source>
  private let sources: UnsafeMutablePointer<GroupNumbers.Source>
  /// Whether rows of the layout have bytes that tell the values of ``onceReader``. Their sources stand behind those of
  /// the keys.
  @exclusivity(unchecked) private var hasOnceSources = false
  /// The bytes of the keys and of these values that were seen together.
  @exclusivity(unchecked) private var seen = GroupKeys()
  // Exclusive access is not checked at run time, since a row takes hardly longer than the checks; `take` is the only
  // method that rows are handed to, and nothing in it comes back to it.
  @exclusivity(unchecked) private var layoutID: UInt16?
  @exclusivity(unchecked) private var hasKeySources = false
  @exclusivity(unchecked) private var known = GroupKeys()
  /// The groups by their values: of the first ones, as many as were needed so far.
  @exclusivity(unchecked) private var places: [[Value]: Int] = [:]
  @exclusivity(unchecked) private var placed = 0
  @exclusivity(unchecked) private var keys: [[Value]] = []
  @exclusivity(unchecked) private var numbers: [GroupNumbers] = []
  @exclusivity(unchecked) private var gathered: [GroupAggregate] = []
  @exclusivity(unchecked) private var values: [Value] = []

  init(_ view: EntityView, _ design: ValuesDesign, _ layout: EntityLayout) {
    self.design = design
    keyCount = design.read.count
    paths = PathReader(view: view)
    keyReader = ValuesReader(view, design.read)
    var slow: [Int] = []
    var arguments: [Expression] = []
    var once: [Int] = []
    var onceArguments: [Expression] = []
    var fast: [Int] = []
    var designed: [GroupNumbers.Source] = []
    for (i, aggregate) in design.aggregates.enumerated() {
      if let source = GroupNumbers.Source(aggregate.function, of: aggregate.argument, layout, paths) {
        fast.append(i)
        designed.append(source)
      } else if case .keyPath = aggregate.argument, aggregate.function == .minimum || aggregate.function == .maximum {
        once.append(i)
        onceArguments.append(aggregate.argument)
      } else {
        slow.append(i)
        arguments.append(aggregate.argument)
      }
    }
    repeated = slow.count
    self.slow = slow + once
    self.fast = fast
    self.designed = designed
    slowReader = ValuesReader(view, arguments)
    onceReader = ValuesReader(view, onceArguments)
    keySources = .allocate(capacity: max(1, keyCount + once.count))
    sources = .allocate(capacity: max(1, fast.count))
    if keyCount == 0 {
      // One group of all objects, also if there are none.
      _ = newGroup([])
    }
  }

  deinit {
    keySources.deallocate()
    sources.deallocate()
  }

  /// Takes a row in.
  func take(_ row: borrowing RowReader) throws(EngineError) {
    if layoutID != row.layoutID { try change(to: row.layout) }
    let record = row.record
    var group = 0
    if keyCount > 0 {
      var found: Int?
      if hasKeySources {
        do throws(StoreError) { found = try known.group(of: record, keySources, keyCount) } catch {
          throw .store(error)
        }
      }
      if let found {
        group = found
      } else {
        // As long as the bytes of all groups tell their values, other bytes are another group.
        let isNew = placed == 0 && hasKeySources && known.tellsValues(keySources, keyCount)
        group = try isNew ? newGroup(key(of: row)) : groupByValues(row)
        if hasKeySources {
          known.learn(group, tellsValues: isNew)
          hasKeySources = known.isWorthwhile
        }
      }
    }
    let first = group &* fast.count
    do throws(StoreError) {
      for i in 0..<fast.count { try numbers[first &+ i].add(sources + i, record) }
    } catch { throw .store(error) }
    if !slow.isEmpty { try takeValues(of: row, group) }
  }

  /// Takes in the values that are read. By itself, so that the rest of ``take(_:)`` stays small enough to be inlined
  /// into.
  @inline(never)
  private func takeValues(of row: borrowing RowReader, _ group: Int) throws(EngineError) {
    let record = row.record
    let start = group &* slow.count
    if repeated > 0 {
      values.removeAll(keepingCapacity: true)
      try slowReader.read(row, into: &values)
      for i in 0..<repeated { gathered[start &+ i].add(values[i]) }
    }
    if repeated == slow.count { return }
    if hasOnceSources {
      do throws(StoreError) {
        if try seen.group(of: record, keySources, keyCount &+ slow.count &- repeated) != nil { return }
      } catch { throw .store(error) }
      seen.learn(0)
      hasOnceSources = seen.isWorthwhile
    }
    values.removeAll(keepingCapacity: true)
    try onceReader.read(row, into: &values)
    for i in repeated..<slow.count { gathered[start &+ i].add(values[i &- repeated]) }
  }

  @inline(never)
  private func groupByValues(_ row: borrowing RowReader) throws(EngineError) -> Int {
    let key = try key(of: row)
    while placed < keys.count {
      places[keys[placed]] = placed
      placed += 1
    }
    if let group = places[key] { return group }
    let group = newGroup(key)
    places[key] = group
    placed = keys.count
    return group
  }

  private func key(of row: borrowing RowReader) throws(EngineError) -> [Value] {
    var key: [Value] = []
    key.reserveCapacity(keyCount)
    try keyReader.read(row, into: &key)
    return key
  }

  private func newGroup(_ key: [Value]) -> Int {
    let group = keys.count
    keys.append(key)
    for _ in fast { numbers.append(GroupNumbers()) }
    for i in slow { gathered.append(GroupAggregate(design.aggregates[i].function)) }
    return group
  }

  @inline(never)
  private func change(to layout: EntityLayout) throws(EngineError) {
    layoutID = layout.id
    hasKeySources = known.isWorthwhile
    for i in 0..<keyCount {
      guard case .keyPath(let path) = design.read[i], let source = GroupKeys.Source(path, layout, paths) else {
        hasKeySources = false
        break
      }
      (keySources + i).initialize(to: source)
    }
    hasOnceSources = seen.isWorthwhile && repeated < slow.count && (hasKeySources || keyCount == 0)
    for (place, i) in slow[repeated...].enumerated() where hasOnceSources {
      guard case .keyPath(let path) = design.aggregates[i].argument,
        let source = GroupKeys.Source(path, layout, paths)
      else {
        hasOnceSources = false
        break
      }
      (keySources + (keyCount + place)).initialize(to: source)
    }
    for (place, i) in fast.enumerated() {
      let aggregate = design.aggregates[i]
      guard let source = GroupNumbers.Source(aggregate.function, of: aggregate.argument, layout, paths) else {
        // What an entity has, its descendants have, in the same type.
        throw .corrupt("rows of \(layout.entity.name) lack what those of its ancestor have")
      }
      (sources + place).initialize(to: source)
    }
  }

  /// The slots of each group, the groups in the order in which their first rows came.
  func finish() -> [[Value]] {
    if design.aggregates.isEmpty { return keys }
    // Where each aggregate was gathered: its place, and whether that is among the fast ones.
    var places = Array(repeating: (isFast: false, place: 0), count: design.aggregates.count)
    for (place, i) in fast.enumerated() { places[i] = (true, place) }
    for (place, i) in slow.enumerated() { places[i] = (false, place) }
    var result: [[Value]] = []
    result.reserveCapacity(keys.count)
    for group in keys.indices {
      var slots: [Value] = []
      slots.reserveCapacity(keyCount + places.count)
      slots += keys[group]
      for (isFast, place) in places {
        slots.append(
          isFast
            ? numbers[group * fast.count + place].value(designed[place]) : gathered[group * slow.count + place].value)
      }
      result.append(slots)
    }
    return result
  }
}
