import Cambium

/// Folders and favourites of one entity that leads to itself: versions that differ in modifiers alone, attributes that
/// come and go, and a to-one relationship that becomes to-many under another name, and the inverse of another one with
/// it.
enum BookmarkVersions {
  @ModelBuilder @Sendable static func version1() -> [ModelBuilderPart] {
    bookmark(modifier: nil) {
      Attribute("isFavorite", .boolean)
      ToOne("favoriteFolder", "Bookmark", inverse: "favorites")
      ToMany("favorites", "Bookmark", inverse: "favoriteFolder", ordered: true)
    }
  }

  /// The modifiers of two attributes, and an index.
  @ModelBuilder @Sendable static func version2() -> [ModelBuilderPart] {
    bookmark(modifier: "2") {
      Attribute("isFavorite", .boolean)
      ToOne("favoriteFolder", "Bookmark", inverse: "favorites")
      ToMany("favorites", "Bookmark", inverse: "favoriteFolder", ordered: true)
      Index("byURL", "url", "isFolder")
    }
  }

  /// Two attributes more, one less, other modifiers, another index.
  @ModelBuilder @Sendable static func version3() -> [ModelBuilderPart] {
    bookmark(modifier: "3") {
      Attribute("isPendingDeletion", .boolean, default: false)
      Attribute("modifiedAt", .date)
      ToOne("favoriteFolder", "Bookmark", inverse: "favorites")
      ToMany("favorites", "Bookmark", inverse: "favoriteFolder", ordered: true)
      Index("byURL", "url", "isPendingDeletion")
    }
  }

  /// A favourite of several folders.
  @ModelBuilder @Sendable static func version4() -> [ModelBuilderPart] {
    bookmark(modifier: "3") {
      Attribute("isPendingDeletion", .boolean, default: false)
      Attribute("modifiedAt", .date)
      ToMany("favoriteFolders", "Bookmark", inverse: "favorites", renamed: "favoriteFolder")
      ToMany("favorites", "Bookmark", inverse: "favoriteFolders", ordered: true)
      Index("byURL", "url", "isPendingDeletion")
    }
  }

  /// One attribute more.
  @ModelBuilder @Sendable static func version5() -> [ModelBuilderPart] {
    bookmark(modifier: "3") {
      Attribute("isPendingDeletion", .boolean, default: false)
      Attribute("modifiedAt", .date)
      Attribute("isStub", .boolean, optional: false, default: false)
      ToMany("favoriteFolders", "Bookmark", inverse: "favorites", renamed: "favoriteFolder")
      ToMany("favorites", "Bookmark", inverse: "favoriteFolders", ordered: true)
      Index("byURL", "url", "isPendingDeletion")
    }
  }

  /// What all versions have, and a version's own.
  private static func bookmark(modifier: String?, @EntityBuilder _ own: () -> [EntityBuilderPart]) -> Entity {
    let parts = own()
    return Entity("Bookmark") {
      Attribute("name", .string)
      Attribute("isFolder", .boolean, optional: false, default: false).with { $0.versionHashModifier = modifier }
      Attribute("url", .string).with { $0.versionHashModifier = modifier }
      ToMany("children", "Bookmark", inverse: "parent", ordered: true, deleteRule: .cascade)
      ToOne("parent", "Bookmark", inverse: "children")
      parts
    }
  }

  /// A folder with three bookmarks, and one with two of them as favourites.
  @Sendable static func make(_ context: ManagedObjectContext, _ n: Int) throws {
    let bookmarks = try ["a", "b", "c"].map {
      try context.make("Bookmark", ["name": "B\(n)\($0)", "url": "https://\(n).\($0)", "isFavorite": $0 != "c"])
    }
    let children = [bookmarks[2], bookmarks[0], bookmarks[1]]
    try context.make("Bookmark", ["name": "D\(n)", "isFolder": true, "children": children])
    try context.make("Bookmark", ["name": "V\(n)", "isFolder": true, "favorites": [bookmarks[1], bookmarks[0]]])
  }

  @Sendable static func expected(_ path: [Int], _ n: Int) -> [String] {
    let version = path.last ?? 1
    func line(_ name: String, _ values: [String: String], isFavorite: String, folder: String) -> String {
      var values = values
      if version < 3 {
        values["isFavorite"] = isFavorite
      } else {
        values["isPendingDeletion"] = "false"
        values["modifiedAt"] = "nil"
      }
      if version < 4 { values["favoriteFolder"] = folder.isEmpty ? "nil" : folder }
      if version > 3 { values["favoriteFolders"] = "{\(folder)}" }
      if version > 4 { values["isStub"] = "false" }
      let text = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
      return "Bookmark \(name) \(text)"
    }
    var result = ["a", "b", "c"].map { letter in
      line(
        "B\(n)\(letter)",
        ["children": "[]", "favorites": "[]", "isFolder": "false", "parent": "D\(n)", "url": "https://\(n).\(letter)"],
        isFavorite: letter == "c" ? "false" : "true", folder: letter == "c" ? "" : "V\(n)")
    }
    let folder = ["isFolder": "true", "parent": "nil", "url": "nil"]
    let lists = [
      ("D\(n)", ["children": "[B\(n)c,B\(n)a,B\(n)b]", "favorites": "[]"]),
      ("V\(n)", ["children": "[]", "favorites": "[B\(n)b,B\(n)a]"]),
    ]
    for (name, values) in lists {
      result.append(line(name, folder.merging(values) { $1 }, isFavorite: "nil", folder: ""))
    }
    return result
  }
}

extension VersionChain {
  static let bookmarks = VersionChain(
    testDescription: "bookmarks",
    versions: [
      BookmarkVersions.version1, BookmarkVersions.version2, BookmarkVersions.version3, BookmarkVersions.version4,
      BookmarkVersions.version5,
    ],
    make: BookmarkVersions.make, expected: BookmarkVersions.expected)
}
