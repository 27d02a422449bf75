/// The folder of one version of a model, as Xcode keeps it: `Name.xcdatamodel` with the file `contents`.
package enum XcodeFolder {
  /// Returns a sentence if a version must not be written into a folder, because a folder of versions with a file
  /// `contents` is taken for one version, and hides the others. `nil` if the folder will do.
  ///
  /// - Parameters:
  ///   - path: The folder, which need not exist.
  ///   - names: The names in the folder; `nil` if there is no such folder.
  package static func problem(of path: String, names: [String]?) -> String? {
    var path = path
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path = String(path.dropLast()) }
    guard path.hasSuffix(".xcdatamodeld") || names?.contains(where: { $0.hasSuffix(".xcdatamodel") }) ?? false else {
      return nil
    }
    let last = path.split(separator: "/").last.map { String($0) } ?? path
    let name = last.hasSuffix(".xcdatamodeld") ? String(last.dropLast(".xcdatamodeld".count)) : last
    return
      "\(path): this is a folder of versions, which a file 'contents' in it would hide; name the folder of a version, such "
      + "as \(path)/\(name).xcdatamodel"
  }
}
