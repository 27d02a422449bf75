import Testing

@testable import Cambium

// What is deleted while others lead to it, or from it.
extension GraphFindingTests {
  /// What others have put under an object that is deleted goes with it, and denies nothing by another relationship; what is not
  /// under it does.
  @Test(arguments: [false, true], [false, true]) func whatGoesAlongDeniesNothing(isInChild: Bool, isUnder: Bool) throws
  {
    let fixture = try Fixture(
      .mergeByPropertyObjectTrump,
      owner: {
        ToMany("items", "Item", inverse: "owners", deleteRule: .cascade)
        ToMany("notes", "Item", inverse: "noted", deleteRule: .deny)
      },
      item: {
        ToMany("owners", "Owner", inverse: "items")
        ToMany("noted", "Owner", inverse: "notes")
      })
    try fixture.store(owners: ["o", "p"], items: ["i"])
    let theirs = fixture.theirs
    let mine =
      isInChild ? ManagedObjectContext(concurrencyType: .privateQueue, parent: theirs) : fixture.mine
    mine.delete(try fixture.owner("o", mine))
    let owner = try fixture.owner("o", theirs)
    try theirs.make("Item", ["name": "j", "owners": isUnder ? [owner] : [], "noted": [owner]])
    if !isInChild { try theirs.save() }
    // By now the context shows what others have done.
    #expect(try mine.all("Item").count == 2)
    let error = cambiumError {
      try mine.save()
      if isInChild { try theirs.save() }
    }
    #expect(error?.code == (isUnder ? nil : .validationRelationshipDeniedDelete))
    if isUnder || !isInChild {
      #expect(try fixture.read("Item", "noted") == (isUnder ? ["i": ""] : ["i": "", "j": "o"]))
    }
    #expect(try mine.all("Item").count == (isUnder ? 1 : 2))
  }
}
