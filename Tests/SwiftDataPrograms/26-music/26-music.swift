// A library of music with three levels of classes: conditions on classes, and fetches with and without subclasses.
// Expected output:
//   all: ["Abbey Road: Album", "Live at Leeds: LiveAlbum", "News: Podcast", "Stray: Media"]
//   albums: ["Abbey Road", "Live at Leeds"] alone: ["Abbey Road"]
//   live: ["Live at Leeds"] not albums: ["News", "Stray"]
//   short or live: ["Live at Leeds", "News"]
//   hosts: ["News"], of the year 1969: ["Abbey Road"]
//   cast: Abbey Road has 2 tracks
//   tracks of albums after 1969: ["Magic Bus"]
//   played: 1 2 1
//   the playlist has Abbey Road (Album), News (Podcast)
//   describe: LIVE Live at Leeds (1970) at University
//   found as Media: LiveAlbum, as Podcast: nil
//   after deleting albums without subclasses: ["Live at Leeds", "News", "Stray"], 1 tracks
//   after deleting albums: ["News", "Stray"]
import CambiumSwiftData
import Foundation

@Model class Media {
  var title: String
  private(set) var playCount: Int = 0
  var seconds: Int
  var playlists: [Playlist] = []

  init(title: String, seconds: Int = 0) {
    self.title = title
    self.seconds = seconds
  }

  func play() { playCount += 1 }
  func describe() -> String { title }
}

@Model class Album: Media {
  var year: Int
  @Relationship(deleteRule: .cascade, inverse: \Track.album) var tracks: [Track] = []

  init(title: String, year: Int, tracks: [String] = []) {
    self.year = year
    super.init(title: title, seconds: 2400)
    self.tracks = tracks.map { Track(title: $0) }
  }

  override func describe() -> String { "\(super.describe()) (\(year))" }
}

@Model final class LiveAlbum: Album {
  var venue: String

  init(title: String, year: Int, venue: String, tracks: [String] = []) {
    self.venue = venue
    super.init(title: title, year: year, tracks: tracks)
  }

  override func play() {
    super.play()
    super.play()
  }
  override func describe() -> String { "LIVE \(super.describe()) at \(venue)" }
}

@Model final class Podcast: Media {
  var host: String?
  init(title: String, host: String?) {
    self.host = host
    super.init(title: title, seconds: 600)
  }
}

@Model final class Track {
  var title: String
  var album: Album?
  init(title: String) { self.title = title }
}

@Model final class Playlist {
  var name: String
  @Relationship(inverse: \Media.playlists) var entries: [Media] = []
  init(name: String) { self.name = name }
}

@main struct Main {
  static func main() throws {
    let container = try ModelContainer(
      for: Media.self, Album.self, LiveAlbum.self, Podcast.self, Playlist.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let road = Album(title: "Abbey Road", year: 1969, tracks: ["Something", "The End"])
    let leeds = LiveAlbum(title: "Live at Leeds", year: 1970, venue: "University", tracks: ["Magic Bus"])
    let news = Podcast(title: "News", host: "Ada")
    for media in [road, leeds, news, Media(title: "Stray", seconds: 900)] { context.insert(media) }
    let list = Playlist(name: "Morning")
    context.insert(list)
    list.entries = [road, news]
    try context.save()

    let other = ModelContext(container)
    func titles(_ predicate: Predicate<Media>?) throws -> [String] {
      try other.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.title)])).map(\.title)
    }
    let all = try other.fetch(FetchDescriptor<Media>(sortBy: [SortDescriptor(\.title)]))
    print("all:", all.map { "\($0.title): \(type(of: $0))" })
    var albums = FetchDescriptor<Album>(sortBy: [SortDescriptor(\.title)])
    let withSubclasses = try other.fetch(albums).map(\.title)
    albums.includesSubclasses = false
    print("albums: \(withSubclasses) alone: \(try other.fetch(albums).map(\.title))")
    print(
      "live: \(try titles(#Predicate { $0 is LiveAlbum })) not albums: \(try titles(#Predicate { !($0 is Album) }))")
    print("short or live:", try titles(#Predicate { $0 is LiveAlbum || $0.seconds < 700 }))
    print(
      "hosts: \(try titles(#Predicate { ($0 as? Podcast)?.host == "Ada" })),",
      "of the year 1969: \(try titles(#Predicate { if let album = $0 as? Album { album.year == 1969 } else { false } }))"
    )
    for case let album as Album in all where album.year < 1970 {
      print("cast: \(album.title) has \(album.tracks.count) tracks")
    }
    let tracks = FetchDescriptor<Track>(predicate: #Predicate { ($0.album?.year ?? 0) > 1969 })
    print("tracks of albums after 1969:", try other.fetch(tracks).map(\.title))
    all.prefix(3).forEach { $0.play() }
    try other.save()
    print("played:", all.prefix(3).map { "\($0.playCount)" }.joined(separator: " "))
    let lists = try other.fetch(FetchDescriptor<Playlist>())
    print("the playlist has", lists[0].entries.map { "\($0.title) (\(type(of: $0)))" }.sorted().joined(separator: ", "))
    print("describe:", all[1].describe())

    let id = leeds.persistentModelID
    let fresh = ModelContext(container)
    let asMedia: Media? = try fresh.existingModel(for: id)
    let asPodcast: Podcast? = try fresh.existingModel(for: id)
    print(
      "found as Media: \(asMedia.map { "\(type(of: $0))" } ?? "nil"), as Podcast: \(asPodcast.map(\.title) ?? "nil")")

    try other.delete(model: Album.self, includeSubclasses: false)
    try other.save()
    let left = try other.fetchCount(FetchDescriptor<Track>())
    print("after deleting albums without subclasses: \(try titles(nil)), \(left) tracks")
    try other.delete(model: Album.self)
    try other.save()
    print("after deleting albums:", try titles(nil))
  }
}
