/// Returns the name that a misspelt one probably stands for; nil if no name is close.
///
/// The function counts the bytes to be inserted, removed, replaced or exchanged with their neighbour. Capital and small
/// ASCII letters are alike. A third of the name's bytes may differ, and one in any case. Of equally close names it
/// takes the first. O(number of names × length of a name, squared).
public func nearestName(to name: String, among names: [String]) -> String? {
  let wanted = name.utf8.map(asciiLowercase)
  var best: String?
  var least = max(1, wanted.count / 3) + 1
  for candidate in names where candidate != name {
    let letters = candidate.utf8.map(asciiLowercase)
    guard abs(letters.count - wanted.count) < least, letters.count > 1 || wanted == letters else { continue }
    let distance = editDistance(wanted, letters)
    if distance < least { (best, least) = (candidate, distance) }
  }
  return best
}

/// Returns the nearest name as the end of a message, such as `; did you mean 'remark'?`; empty if no name is close.
public func suggestion(for name: String, among names: [String]) -> String {
  nearestName(to: name, among: names).map { "; did you mean '\($0)'?" } ?? ""
}

private func asciiLowercase(_ byte: UInt8) -> UInt8 {
  byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}

/// Returns the number of bytes to be inserted, removed, replaced or exchanged with their neighbour.
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  // The rows of the table for the last two prefixes of `a`, and the one that is made.
  var beforeLast: [Int] = []
  var last = Array(0...b.count)
  for i in a.indices {
    var row = [i + 1]
    for j in b.indices {
      var distance = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { distance = min(distance, beforeLast[j - 1] + 1) }
      row.append(distance)
    }
    (beforeLast, last) = (last, row)
  }
  return last[b.count]
}
