import Cambium
import Testing

/// A gallery's versions: an entity is renamed, counts and inverses change, and a relationship comes to lead to another
/// entity, which takes a version in between and the application's own code.
enum GalleryVersions {
  /// Classes are no part of what is stored.
  final class Album: ManagedObject {}

  @ModelBuilder @Sendable static func version1() -> [ModelBuilderPart] {
    Entity("Collection") {
      Attribute("name", .string)
      Attribute("note", .string)
      ToMany("artworks", "Artwork", inverse: "collection")
      ToOne("cover", "Artwork")
    }
    Entity("Artwork") {
      Attribute("name", .string)
      Attribute("price", .double, default: 1.5)
      ToOne("collection", "Collection", inverse: "artworks", optional: false)
    }
  }

  /// The entity renamed, with a class; another default; what was optional required; other counts.
  @ModelBuilder @Sendable static func version2() -> [ModelBuilderPart] {
    Entity("Album", class: Album.self, renamed: "Collection") {
      Attribute("name", .string)
      Attribute("note", .string, optional: false, default: "no note")
      ToMany("artworks", "Artwork", inverse: "collection", minimum: 1, maximum: 20)
      ToOne("cover", "Artwork")
    }
    artwork(images: false, optional: false)
  }

  private static func artwork(images: Bool, optional: Bool) -> Entity {
    Entity("Artwork") {
      Attribute("name", .string)
      Attribute("price", .double, default: 2.5)
      if images { ToMany("images", "Image", inverse: "artwork") }
      ToOne("collection", "Album", inverse: "artworks", optional: optional)
    }
  }

  private static var image: Entity {
    Entity("Image") {
      Attribute("name", .string)
      ToOne("artwork", "Artwork", inverse: "images")
    }
  }

  /// On the way: the application makes images, and sets `coverImage` from `cover`.
  @ModelBuilder @Sendable static func version3() -> [ModelBuilderPart] {
    Entity("Album", class: Album.self, renamed: "Collection") {
      Attribute("name", .string)
      Attribute("note", .string, optional: false, default: "no note")
      ToMany("artworks", "Artwork", inverse: "collection", minimum: 1, maximum: 20)
      ToOne("cover", "Artwork")
      ToOne("coverImage", "Image")
    }
    artwork(images: true, optional: false)
    image
  }

  /// The cover is an image.
  @ModelBuilder @Sendable static func version4() -> [ModelBuilderPart] {
    Entity("Album", class: Album.self, renamed: "Collection") {
      Attribute("name", .string)
      Attribute("note", .string, optional: false, default: "no note")
      ToMany("artworks", "Artwork", inverse: "collection", minimum: 1, maximum: 20)
      ToOne("cover", "Image", renamed: "coverImage")
    }
    artwork(images: true, optional: false)
    image
  }

  /// Delete rules, indexes, a default.
  @ModelBuilder @Sendable static func version5() -> [ModelBuilderPart] {
    Entity("Album", class: Album.self, renamed: "Collection") {
      Attribute("name", .string)
      Attribute("note", .string, optional: false, default: "nothing")
      ToMany("artworks", "Artwork", inverse: "collection", deleteRule: .cascade, minimum: 1, maximum: 20)
      ToOne("cover", "Image", deleteRule: .cascade, renamed: "coverImage")
      Index("byName", "name")
    }
    artwork(images: true, optional: false)
    image
  }

  /// The cover has an inverse, and an artwork may do without a collection.
  @ModelBuilder @Sendable static func version6() -> [ModelBuilderPart] {
    Entity("Album", class: Album.self, renamed: "Collection") {
      Attribute("name", .string)
      Attribute("note", .string, optional: false, default: "nothing")
      ToMany("artworks", "Artwork", inverse: "collection", minimum: 1, maximum: 20)
      ToOne("cover", "Image", inverse: "albums", renamed: "coverImage")
      Index("byName", "name")
    }
    artwork(images: true, optional: true)
    Entity("Image") {
      Attribute("name", .string)
      ToOne("artwork", "Artwork", inverse: "images")
      ToMany("albums", "Album", inverse: "cover")
    }
  }

  /// Every fourth collection has no cover.
  @Sendable static func make(_ context: ManagedObjectContext, _ n: Int) throws {
    let collection = try context.make("Collection", ["name": "C\(n)", "note": n % 3 == 0 ? nil : "note \(n)"])
    let artworks = try ["a", "b"].map {
      try context.make("Artwork", ["name": "W\(n)\($0)", "price": Double(n), "collection": collection])
    }
    if n % 4 != 3 { try collection.set(artworks[1], forKey: "cover") }
  }

  @Sendable static func makeImages(_ context: ManagedObjectContext) throws {
    for album in try context.all("Album", "cover != nil AND coverImage == nil") {
      let artwork = try #require(album.value(forKey: "cover") as? ManagedObject)
      let name = try #require(album.value(forKey: "name") as? String)
      let image = try context.make("Image", ["name": "I\(name.dropFirst())", "artwork": artwork])
      try album.set(image, forKey: "coverImage")
    }
    try context.save()
  }

  @Sendable static func expected(_ path: [Int], _ n: Int) -> [String] {
    let version = path.last ?? 1
    let hasCover = n % 4 != 3
    var album = ["artworks": "{W\(n)a,W\(n)b}", "note": n % 3 == 0 ? (version == 1 ? "nil" : "no note") : "note \(n)"]
    album["cover"] = hasCover ? (version < 4 ? "W\(n)b" : "I\(n)") : "nil"
    if version == 3 { album["coverImage"] = hasCover ? "I\(n)" : "nil" }
    let text = album.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    var result = ["\(version == 1 ? "Collection" : "Album") C\(n) \(text)"]
    for letter in ["a", "b"] {
      let images = version < 3 ? "" : " images={\(hasCover && letter == "b" ? "I\(n)" : "")}"
      result.append("Artwork W\(n)\(letter) collection=C\(n)\(images) price=\(Double(n))")
    }
    if version > 2, hasCover {
      result.append("Image I\(n)\(version == 6 ? " albums={C\(n)}" : "") artwork=W\(n)b")
    }
    return result
  }
}

extension VersionChain {
  static let gallery = VersionChain(
    testDescription: "gallery",
    versions: [
      GalleryVersions.version1, GalleryVersions.version2, GalleryVersions.version3, GalleryVersions.version4,
      GalleryVersions.version5, GalleryVersions.version6,
    ],
    verdicts: [
      1...4: .notInferable(["Album.cover"]), 1...5: .notInferable(["Album.cover"]),
      1...6: .notInferable(["Album.cover"]),
      2...4: .notInferable(["Album.cover"]), 2...5: .notInferable(["Album.cover"]),
      2...6: .notInferable(["Album.cover"]),
      4...5: .sameHash,
    ],
    make: GalleryVersions.make, work: [3: GalleryVersions.makeImages], expected: GalleryVersions.expected)
}
