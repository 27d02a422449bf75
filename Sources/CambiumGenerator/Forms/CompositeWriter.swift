import CambiumModelFiles

/// Writes composite types as structures.
struct CompositeWriter {
  private let context: FormContext
  private var names: TypeNames { context.names }

  init(_ context: FormContext) { self.context = context }

  /// Writes a structure that a `@Model` class stores as a composite.
  func writeCodable(_ type: ModelDocument.Composite, to writer: inout SourceWriter) {
    let protocols = ["Codable", "Hashable", "Sendable"].map { names.swift($0) }.joined(separator: ", ")
    writer.block("\(context.access)struct \(type.name): \(protocols)") { writer in
      for element in type.elements {
        let value = DefaultValue(of: element)?.source(names, isOptional: element.isOptional)
        let name = SwiftText.name(element.name)
        writer.line(
          "\(context.access)var \(name): \(self.type(of: element))\(value.map { " = " + $0 } ?? "")"
        )
      }
      // The compiler's own initializer is not public.
      if context.options.isPublic { writeInitializer(type, to: &writer) }
    }
  }

  /// Writes a structure that managed objects give and take.
  func writeRepresentable(_ type: ModelDocument.Composite, to writer: inout SourceWriter) {
    let access = context.access
    writer.block("@ManagedPaths \(access)struct \(type.name): CompositeRepresentable") { writer in
      for element in type.elements {
        writer.line("\(access)var \(SwiftText.name(element.name)): \(self.type(of: element))")
      }
      if !type.elements.isEmpty {
        writeInitializer(type, to: &writer)
      } else {
        writer.line("\(access)init() {}")
      }
      writer.line()
      writer.block("\(access)init?(compositeElements elements: CompositeElements)") { writer in
        for element in type.elements { writeReading(element, to: &writer) }
      }
      writer.line()
      writer.block("\(access)var compositeElements: CompositeElements?") { writer in
        writer.line("var elements = CompositeElements()")
        for element in type.elements {
          writer.line("elements[\(SwiftText.literal(element.name))] = \(SwiftText.name(element.name))")
        }
        writer.line("return elements")
      }
      writer.line()
      let dictionary = "[\(names.swift("String")): Any]"
      writer.block("\(access)init?(compositeValues values: \(dictionary))") { writer in
        writer.line("guard let elements = CompositeElements(values) else { return nil }")
        writer.line("self.init(compositeElements: elements)")
      }
      writer.line()
      writer.line("\(access)var compositeValues: \(dictionary) { compositeElements?.dictionary ?? [:] }")
    }
  }

  private func writeReading(_ element: ModelDocument.Attribute, to writer: inout SourceWriter) {
    let name = SwiftText.name(element.name)
    let value = "elements[\(SwiftText.literal(element.name))]"
    if element.isOptional {
      writer.line("\(name) = \(value)")
    } else {
      writer.line("guard let \(name): \(type(of: element)) = \(value) else { return nil }")
      writer.line("self.\(name) = \(name)")
    }
  }

  private func type(of element: ModelDocument.Attribute) -> String {
    (names.value(element.type) ?? element.compositeName ?? "") + (element.isOptional ? "?" : "")
  }

  private func writeInitializer(_ type: ModelDocument.Composite, to writer: inout SourceWriter) {
    let parameters = type.elements.map { element -> String in
      let value =
        DefaultValue(of: element)?.source(names, isOptional: element.isOptional) ?? (element.isOptional ? "nil" : nil)
      return "\(SwiftText.name(element.name)): \(self.type(of: element))\(value.map { " = " + $0 } ?? "")"
    }
    writer.line()
    writer.block("\(context.access)init(\(parameters.joined(separator: ", ")))") { writer in
      for element in type.elements {
        let name = SwiftText.name(element.name)
        writer.line("self.\(name) = \(name)")
      }
    }
  }
}
