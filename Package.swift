// swift-tools-version: 6.2
// Cambium depends on no package and contains no C. Keep it so: `.ci/run` fails otherwise.
import CompilerPluginSupport
import PackageDescription

// To optimize the tests of engine and objects takes half of the time of a release build of everything, and more than it
// saves when they run. Not so those of the kernel: their models and damaged stores are most of what a run at full
// length does. A package that depends on this one builds no tests.
let notOptimized: [SwiftSetting] = [.unsafeFlags(["-Onone"], .when(configuration: .release))]

// What tests are made of, the simulated disks above all, is a tenth of the time of a debug run unless it is optimized.
let alwaysOptimized: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

// The functions by which MemoryWorker replaces those of the C library.
let heapFunctions = ["malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "free"].flatMap {
  ["-Xlinker", "--defsym=\($0)=heap_\($0)"]
}

// Where each target costs a minute, as under a sanitizer, the names of test targets say which are built: others' tests
// are not wanted there.
let onlyTests = Context.environment["CAMBIUM_TEST_TARGETS"]?.split(separator: ",").map(String.init)

// Programs in the manner of tutorials, each with the output that it has to have in its head. A test runs them.
var swiftDataPrograms = [
  "01-trips", "03-predicates", "05-uniqueness", "07-model-actor", "09-migration", "11-observers", "21-todo",
  "22-recipes", "23-notes", "24-fitness", "25-contacts", "26-music", "27-quiz", "28-expenses", "29-reader", "30-chat",
  "31-stores", "32-schema",
  "33-observation", "34-conditions", "35-classes", "36-tree", "37-required", "38-by-hand", "39-sync", "40-repository",
  "41-league", "42-inspector",
]
// `import SwiftData` as it is, which is Apple's own module on Apple's platforms.
#if !canImport(Darwin)
  swiftDataPrograms.append("20-bookshelf")
#endif
// To build them takes longer than to run their test, which is left out of release builds with them.
if Context.environment["CAMBIUM_PROGRAMS"] == "no" || onlyTests.map({ !$0.contains("CambiumSwiftDataTests") }) ?? false
{
  swiftDataPrograms = []
}

func programTarget(_ name: String) -> String { "SwiftData" + name.replacing("-", with: "") }

let package = Package(
  name: "cambium",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Cambium", targets: ["Cambium"]),
    .library(name: "CambiumNotifications", targets: ["CambiumNotifications"]),
    .library(name: "CambiumCoreData", targets: ["CambiumCoreData"]),
    .library(name: "CambiumSwiftData", targets: ["CambiumSwiftData"]),
    .library(name: "CambiumKernel", targets: ["CambiumKernel"]),
    .library(name: "CambiumEngine", targets: ["CambiumEngine"]),
    .library(name: "CambiumModels", targets: ["CambiumModels"]),
    .library(name: "CambiumSystem", targets: ["CambiumSystem"]),
    .library(name: "CambiumDeviceSupport", targets: ["CambiumDeviceSupport"]),
    .executable(name: "cambium", targets: ["CambiumTool"]),
    .plugin(name: "CambiumGeneratePlugin", targets: ["CambiumGeneratePlugin"]),
    .executable(name: "FlightLog", targets: ["FlightLog"]),
    .executable(name: "SampleTrips", targets: ["SampleTrips"]),
  ],
  targets: [
    .target(name: "CambiumKernel"),
    // The macro is the plug-in alone: it is built for the machine that compiles, and no program contains it.
    .target(name: "CambiumEngine", dependencies: ["CambiumKernel", "CambiumMacros"]),
    .target(name: "CambiumSystem", dependencies: ["CambiumKernel"]),
    // The functions that the linker asks for where there is no operating system. Everywhere else it is empty.
    .target(name: "CambiumDeviceSupport"),
    // Xcode's model files as documents, which tools read that have no use for a store; and the models of such
    // documents.
    .target(name: "CambiumModelFiles"),
    .target(name: "CambiumGenerator", dependencies: ["CambiumModelFiles", "CambiumSourceText"]),
    // Built for the machine that compiles: its tool has the generator alone, and neither kernel nor engine.
    .plugin(
      name: "CambiumGeneratePlugin", capability: .buildTool(), dependencies: ["CambiumGenerateTool"],
      path: "Sources/CambiumGeneratePlugin"),
    .executableTarget(name: "CambiumGenerateTool", dependencies: ["CambiumGenerator", "CambiumModelFiles"]),
    .target(name: "CambiumModels", dependencies: ["CambiumEngine", "CambiumKernel", "CambiumModelFiles"]),
    // Built for the machine that compiles, whatever it compiles for. It speaks with the compiler itself; swift-syntax
    // is not needed. What it does is in a library, since a test that depends on a macro makes all tests be built as
    // tools.
    .macro(name: "CambiumMacros", dependencies: ["CambiumMacroSupport"]),
    .target(name: "CambiumMacroSupport", dependencies: ["CambiumSourceText"]),
    // The lexer of the macros and of the tool that rewrites sources, and the words of Swift.
    .target(name: "CambiumSourceText"),
    // What rewrites a folder of Core Data sources.
    .target(name: "CambiumSourceMover", dependencies: ["CambiumModelFiles", "CambiumSourceText"]),
    .target(
      name: "Cambium",
      dependencies: [
        "CambiumEngine", "CambiumKernel", "CambiumMacros", "CambiumModelFiles", "CambiumModels", "CambiumSystem",
      ]),
    // What needs all of Foundation, and not only its essentials, is kept apart from what every application links.
    .target(name: "CambiumNotifications", dependencies: ["Cambium"]),
    // Core Data's names for all of it, and Foundation whole; nothing else depends on it.
    .target(
      name: "CambiumCoreData",
      dependencies: ["Cambium", "CambiumCoreDataNames", "CambiumEngine", "CambiumNotifications"]),
    // Those of Core Data's names that Foundation has as well, for CambiumCoreData to re-export one by one.
    .target(name: "CambiumCoreDataNames", dependencies: ["Cambium"]),
    // SwiftData's names for all of it. Observation and Foundation come with it.
    .target(name: "CambiumSwiftData", dependencies: ["Cambium", "CambiumEngine", "CambiumMacros"]),
    .executableTarget(
      name: "CambiumTool",
      dependencies: [
        "CambiumEngine", "CambiumGenerator", "CambiumKernel", "CambiumModels", "CambiumSourceMover", "CambiumSystem",
      ]),
    .executableTarget(name: "FlightLog", dependencies: ["Cambium"], exclude: ["Data"]),
    // The second example: an application on its way from Core Data to SwiftData.
    .executableTarget(
      name: "SampleTrips", dependencies: ["CambiumCoreData", "CambiumSwiftData"],
      resources: [.copy("SampleTrips.xcdatamodeld")]),
    .target(
      name: "CambiumTesting", dependencies: ["CambiumKernel"], path: "Tests/CambiumTesting",
      swiftSettings: alwaysOptimized),
    .testTarget(
      name: "CambiumKernelTests", dependencies: ["CambiumKernel", "CambiumTesting"],
      exclude: ["Golden/closed-1.store", "Golden/closed-2.store", "Golden/log-1.store", "Golden/log-2.store"]),
    .testTarget(
      name: "CambiumEngineTests", dependencies: ["CambiumEngine", "CambiumModels", "CambiumSystem", "CambiumTesting"],
      swiftSettings: notOptimized),
    .testTarget(
      name: "CambiumModelFilesTests", dependencies: ["CambiumEngine", "CambiumModelFiles", "CambiumModels"],
      swiftSettings: notOptimized),
    // A process of its own, for the tests of several processes.
    .executableTarget(
      name: "StoreWorker", dependencies: ["Cambium", "CambiumEngine", "CambiumKernel", "CambiumSystem"],
      path: "Tests/StoreWorker"),
    // One of the two stacks on a store, for the test of two processes.
    .executableTarget(
      name: "StackWorker", dependencies: ["Cambium", "CambiumSwiftData"], path: "Tests/StackWorker"),
    // The programs that `.ci/embedded` also builds for targets without an operating system.
    .executableTarget(
      name: "DevicePrograms", dependencies: ["CambiumEngine", "CambiumKernel", "CambiumTesting"],
      path: "Tests/Embedded", exclude: ["Startup", "run.mjs"]),
    // A program that measures its own heap: it replaces the C library's functions for memory. No test target depends on
    // it, because the linker would then put its functions into the test bundle, where they would replace those of the
    // sanitizers.
    .executableTarget(
      name: "MemoryWorker", dependencies: ["CambiumEngine", "CambiumKernel"], path: "Tests/MemoryWorker",
      linkerSettings: [.unsafeFlags(heapFunctions, .when(platforms: [.linux]))]),
    // What `.ci/instructions` counts the instructions of.
    .executableTarget(
      name: "CoreOperations", dependencies: ["Cambium", "CambiumKernel", "CambiumSwiftData", "CambiumSystem"],
      path: "Tests/CoreOperations"),
    .testTarget(
      name: "CambiumSystemTests", dependencies: ["CambiumSystem", "CambiumTesting", "StoreWorker"]),
    .testTarget(
      name: "CambiumSourceMoverTests", dependencies: ["CambiumModelFiles", "CambiumSourceMover", "CambiumTesting"],
      exclude: ["Applications", "Golden"]),
    .testTarget(
      name: "CambiumToolTests", dependencies: ["CambiumEngine", "CambiumKernel", "CambiumSystem", "CambiumTool"]),
    .testTarget(
      name: "CambiumGeneratorTests",
      dependencies: ["CambiumEngine", "CambiumGenerateTool", "CambiumGenerator", "CambiumModelFiles", "CambiumModels"],
      exclude: ["Golden", "Models", "refusals.tsv"], swiftSettings: notOptimized),
    .testTarget(name: "FlightLogTests", dependencies: ["Cambium", "CambiumTesting", "FlightLog"]),
    .testTarget(
      name: "SampleTripsTests", dependencies: ["CambiumGenerator", "CambiumModelFiles", "SampleTrips"]),
    .testTarget(
      name: "CambiumMacrosTests", dependencies: ["CambiumMacroSupport", "CambiumSourceText", "CambiumTesting"],
      exclude: ["Golden"]),
    .testTarget(
      name: "CambiumTests",
      dependencies: ["Cambium", "CambiumEngineTests", "CambiumNotifications", "CambiumTesting", "StoreWorker"],
      exclude: ["Models"], swiftSettings: notOptimized),
    // As modules of new applications are set up.
    .testTarget(
      name: "CambiumIsolationTests", dependencies: ["Cambium", "CambiumSwiftData"],
      swiftSettings: [.defaultIsolation(MainActor.self), .enableUpcomingFeature("MemberImportVisibility")]),
    .testTarget(
      name: "CambiumSwiftDataTests",
      dependencies: [
        "Cambium", "CambiumEngine", "CambiumKernel", "CambiumSwiftData", "CambiumSystem", "CambiumTesting",
        "StackWorker",
      ]
        + swiftDataPrograms.map { Target.Dependency.byName(name: programTarget($0)) },
      swiftSettings: notOptimized),
    .testTarget(name: "CambiumCoreDataTests", dependencies: ["CambiumCoreData", "CambiumEngine", "CambiumModels"]),
    .testTarget(
      name: "FuzzTests",
      dependencies: [
        "CambiumEngine", "CambiumKernel", "CambiumKernelTests", "CambiumMacroSupport", "CambiumModels",
        "CambiumSourceMover", "CambiumTesting",
      ],
      path: "Tests/Fuzz", exclude: ["Corpus", "Entry"]),
  ],
  swiftLanguageModes: [.v6]
)

// Off Apple's platforms, `import SwiftData` may stay as it is. Nothing in the package depends on this.
#if !canImport(Darwin)
  package.targets.append(.target(name: "SwiftData", dependencies: ["CambiumSwiftData"]))
  package.products.append(.library(name: "SwiftData", targets: ["SwiftData"]))
#endif

for name in swiftDataPrograms {
  let isAsFromXcode = name == "20-bookshelf"
  // As Xcode sets up a new application: the declarations belong to the main actor, and a file sees the members of
  // modules that it imports itself.
  let asFromXcode: [SwiftSetting] = [
    .defaultIsolation(MainActor.self), .enableUpcomingFeature("MemberImportVisibility"),
  ]
  let program = Target.executableTarget(
    name: programTarget(name), dependencies: [isAsFromXcode ? "SwiftData" : "CambiumSwiftData"],
    path: "Tests/SwiftDataPrograms/" + name, swiftSettings: notOptimized + (isAsFromXcode ? asFromXcode : []))
  package.targets.append(program)
}

if let onlyTests { package.targets.removeAll { $0.type == .test && !onlyTests.contains($0.name) } }
