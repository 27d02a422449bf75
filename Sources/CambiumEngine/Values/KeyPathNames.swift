/// Returns the key path of names.
func keyPath(of names: [String]) -> String {
  var text = ""
  for name in names { text += text.isEmpty ? name : "." + name }
  return text
}

/// The names in a key path. They are parted at the byte of the point, as the parser does it: as a character it would be
/// another one where a combining mark follows it.
func keyPathNames(_ keyPath: String) -> [Substring] {
  let bytes = keyPath.utf8
  let hasOne = bytes.withContiguousStorageIfAvailable { !$0.contains(UInt8(ascii: ".")) }
  if hasOne == true { return [keyPath[...]] }
  var names: [Substring] = []
  var start = bytes.startIndex
  var place = start
  while place < bytes.endIndex {
    if bytes[place] == UInt8(ascii: ".") {
      names.append(keyPath[start..<place])
      start = bytes.index(after: place)
    }
    place = bytes.index(after: place)
  }
  names.append(keyPath[start...])
  return names
}
