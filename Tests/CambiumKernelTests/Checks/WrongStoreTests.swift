import Testing

/// Every wrong store is told from a right one, and every right one is taken.
@Suite struct WrongStoreTests {
  @Test func eachComesToWhatItHasTo() throws {
    let all = try WrongStore.all()
    #expect(all.count > 60)
    for wrong in all {
      let difference = wrong.difference()
      #expect(difference == nil)
    }
  }
}
