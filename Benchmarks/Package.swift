// swift-tools-version: 6.2
// A package of its own, so that Cambium itself depends on nothing: the peers it is measured against are here.
import PackageDescription

let package = Package(
  name: "cambium-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "cambium", path: ".."),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .executableTarget(
      name: "CambiumBenchmarks",
      dependencies: [
        .product(name: "Cambium", package: "cambium"),
        .product(name: "CambiumEngine", package: "cambium"),
        .product(name: "CambiumKernel", package: "cambium"),
        .product(name: "CambiumSwiftData", package: "cambium"),
        .product(name: "CambiumSystem", package: "cambium"),
        .product(name: "GRDB", package: "GRDB.swift"),
        "CSQLite", "CLMDB",
      ],
      // So that the peers' shared libraries call the counting fdatasync and fsync of `ProcessCounters.swift`.
      linkerSettings: [
        .unsafeFlags(
          ["-Xlinker", "--export-dynamic-symbol=fdatasync", "-Xlinker", "--export-dynamic-symbol=fsync"],
          .when(platforms: [.linux]))
      ]),
    .executableTarget(
      name: "MinimalProgram",
      dependencies: [
        .product(name: "CambiumKernel", package: "cambium"), .product(name: "CambiumSystem", package: "cambium"),
      ]),
    .executableTarget(name: "EmptyProgram"),
  ],
  swiftLanguageModes: [.v6]
)
