import Cambium
import Foundation
import Testing

enum WrittenPaint: String, AttributeRepresentable { case white, blue }

@Composite
struct WrittenPlace: Equatable {
  var latitude: Double
  var longitude: Double
  var name: String?
  var accuracy = 10.0
  var paint: WrittenPaint?
  var label: WrittenLabel?
  let kind = "place"
  var isNorth: Bool { latitude > 0 }
  static let origin = WrittenPlace(latitude: 0, longitude: 0)
}

@Composite
@ManagedPaths
struct WrittenLabel: Equatable {
  var text: String
  var paint: WrittenPaint
}

final class WrittenStop: ManagedObject {
  @Managed var place: WrittenPlace?
  @Managed var label: WrittenLabel?
}

/// ``Composite()``: what it writes is stored and read.
struct CompositeMacroTests {
  private func context() throws -> ManagedObjectContext {
    let model = try ManagedObjectModel {
      Composite("Label") {
        Attribute("text", .string)
        Attribute("paint", .string)
      }
      Entity("Stop", class: WrittenStop.self) {
        Attribute("place") {
          Attribute("latitude", .double)
          Attribute("longitude", .double)
          Attribute("name", .string)
          Attribute("accuracy", .double)
          Attribute("paint", .string)
          Attribute("label", composite: "Label")
        }
        Attribute("label", composite: "Label")
      }
    }
    return try memoryContainer(model).newBackgroundContext()
  }

  @Test func storedAndRead() throws {
    let context = try context()
    let stop = WrittenStop(context: context)
    var place = WrittenPlace(latitude: 46.5, longitude: 8)
    (place.name, place.accuracy, place.paint) = ("Pass", 3, .blue)
    place.label = WrittenLabel(text: "P", paint: .white)
    stop.place = place
    try context.save()
    context.refreshAllObjects()
    #expect(stop.place == place && stop.place?.isNorth == true)
    #expect(stop.value(forKeyPath: "place.label.paint") as? String == "white")
    #expect(stop.composite(WrittenPlace.self, forKey: "place") == place)
    stop.place?.name = nil
    stop.place?.label = nil
    try context.save()
    context.refreshAllObjects()
    #expect(stop.place?.name == nil && stop.place?.label == nil && stop.place?.paint == .blue)
    #expect(context.recordedErrors.isEmpty)
  }

  @Test func elementsWithoutValue() throws {
    let context = try context()
    let stop = WrittenStop(context: context)
    stop.setValue(["latitude": 1.0], forKey: "place")
    #expect(stop.place == WrittenPlace(latitude: 1, longitude: 0))
    // An enumeration has no default, so that the structure cannot be read.
    stop.setValue(["text": "P"], forKey: "label")
    #expect(stop.label == nil && context.recordedErrors.count == 1)
    stop.setValue(["text": "P", "paint": "pink"], forKey: "label")
    #expect(stop.label == nil)
    stop.setValue(["paint": "blue"], forKey: "label")
    #expect(stop.label == WrittenLabel(text: "", paint: .blue))
  }

  @Test func conditions() throws {
    let context = try context()
    for paint in [WrittenPaint.white, .blue] {
      WrittenStop(context: context).label = WrittenLabel(text: "", paint: paint)
    }
    try context.save()
    let request = FetchRequest<WrittenStop>(entityName: "Stop")
    request.predicate = try FetchPredicate(format: "label.paint == %@", "blue")
    #expect(try context.count(for: request) == 1)
  }
}
