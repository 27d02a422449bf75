// A tree of folders, 1,000 levels deep, which is deleted by its root.
// Expected output:
//   made 1001, the deepest is at level 1000
//   read again: level 1000
//   roots: ["0"], children of the root: ["1", "side"]
//   moved: ["side"] and ["1", "side"]
//   leaves: 1
//   one level left by nullify: 3
//   after deleting the root: 0
//   a cycle: a -> b -> a
//   after deleting the cycle: 0
import CambiumSwiftData
import Foundation

@Model
final class Folder {
  var name: String
  @Relationship(inverse: \Folder.children) var parent: Folder?
  @Relationship(deleteRule: .cascade) var children: [Folder] = []

  init(_ name: String, parent: Folder? = nil) {
    self.name = name
    self.parent = parent
  }

  var level: Int {
    var (count, folder) = (0, self)
    while let next = folder.parent { (count, folder) = (count + 1, next) }
    return count
  }

  var deepest: Folder {
    var folder = self
    while let next = folder.children.first(where: { $0.name != "side" }) { folder = next }
    return folder
  }
}

@main struct Main {
  static func main() throws {
    let container = try ModelContainer(for: Folder.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let root = Folder("0")
    var last = root
    for number in 1...1000 { last = Folder("\(number)", parent: last) }
    // The deepest folder leads to all the others.
    context.insert(last)
    try context.save()
    print("made \(try context.fetchCount(FetchDescriptor<Folder>())), the deepest is at level \(root.deepest.level)")

    let other = ModelContext(container)
    let roots = FetchDescriptor<Folder>(predicate: #Predicate { $0.parent == nil }, sortBy: [SortDescriptor(\.name)])
    guard let top = try other.fetch(roots).first else { return print("lost") }
    print("read again: level \(top.deepest.level)")
    let side = Folder("side")
    top.children.append(side)
    try other.save()
    print("roots: \(try other.fetch(roots).map(\.name)), children of the root: \(top.children.map(\.name).sorted())")
    let one = top.children.filter { $0.name == "1" }[0]
    one.parent = side
    let moved = top.children.map(\.name)
    one.parent = top
    print("moved: \(moved) and \(top.children.map(\.name).sorted())")
    try other.save()
    other.delete(side)
    let leaves = FetchDescriptor<Folder>(predicate: #Predicate { $0.children.isEmpty })
    try other.save()
    print("leaves:", try other.fetchCount(leaves))
    let (a, b, c) = (Folder("x"), Folder("y"), Folder("z"))
    b.parent = a
    c.parent = b
    other.insert(c)
    print("one level left by nullify:", try other.fetchCount(FetchDescriptor<Folder>()) - 1001)
    other.delete(a)
    try other.save()

    other.delete(top)
    try other.save()
    print("after deleting the root:", try ModelContext(container).fetchCount(FetchDescriptor<Folder>()))
    let (left, right) = (Folder("a"), Folder("b"))
    left.parent = right
    right.parent = left
    other.insert(left)
    try other.save()
    print("a cycle: \(left.name) -> \(left.parent?.name ?? "-") -> \(left.parent?.parent?.name ?? "-")")
    other.delete(left)
    try other.save()
    print("after deleting the cycle:", try ModelContext(container).fetchCount(FetchDescriptor<Folder>()))
  }
}
