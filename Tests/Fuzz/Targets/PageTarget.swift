import CambiumTesting

@testable import CambiumKernel
@testable import CambiumKernelTests

/// The input replaces a page, from some place of it on, with the checksums above made right:
///
///     seed (1) | page (1) | offset in steps of 4 (2) | bytes ...
enum PageTarget {
  private static let mender = (try? DamageStore(isClosed: true)).flatMap { try? Mender($0.bytes) }
  private static let pages: [Range<Int>] =
    mender.map { m in
      m.places.filter { $0.lowerBound >= Superblock.regionSize }
    } ?? []

  static func problem(_ input: FuzzInput) -> String? {
    var input = input
    guard var mutant = mender, !pages.isEmpty else { return "the store could not be made" }
    let seed = UInt64(input.byte())
    let page = pages[input.below(pages.count)]
    let offset = page.lowerBound + Int(input.word()) * 4 % page.count
    mutant.mutate(at: offset, input.take(page.upperBound - offset))
    return StoreExercise(bytes: mutant.bytes, seed: seed).problem()
  }
}
