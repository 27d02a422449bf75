// A module of SwiftData's name for platforms that have no SwiftData, so that `import SwiftData` needs no change. The
// manifest leaves it out on hosts of Apple's.
@_exported import CambiumSwiftData
