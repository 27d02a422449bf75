import CambiumModelFiles

/// All sources of a folder after their move.
package struct FolderMove {
  /// The sources, in the order in which they came.
  package private(set) var sources: [MovedSource]
  /// Sources that the folder lacks, because Xcode makes them of the model with every build.
  package private(set) var made: [GeneratedClasses.File]

  /// Moves the sources of a folder.
  ///
  /// - Parameters:
  ///   - files: The sources with their names.
  ///   - model: The application's model, if there is one.
  package init(_ files: [(name: String, text: String)], model: ModelDocument? = nil) {
    let folder = Folder(files.map { $0.text }, model: model)
    sources = files.map { SourceMover.move($0.text, in: folder) }
    let taken = Set(files.map { $0.name })
    made = model.map { GeneratedClasses.missing(in: folder, of: $0) }?.filter { !taken.contains($0.name) } ?? []
    let texts = ExtensionOverrides.joined(sources.map { $0.text } + made.map { $0.text }, folder)
    for index in sources.indices { sources[index].text = texts[index] }
    for index in made.indices { made[index].text = texts[sources.count + index] }
  }
}
