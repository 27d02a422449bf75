import CambiumEngine
import CambiumKernel
import CambiumModelFiles

/// The model that Xcode's model editor keeps: the file `contents` in a folder `.xcdatamodel`.
///
/// Everything that is stored by it is taken over, or refused with its line and column. What Cambium does without, and
/// nothing stored depends on (search indexes, cloud encryption, an index over an expression), is passed over and listed
/// in ``warnings``. What contradicts itself in files that Xcode accepts is mended with a warning: relationships that do
/// not name each other as inverses lose them, a default value is brought into the attribute's type.
public struct ModelFile: Sendable {
  /// The file's content under Xcode's names.
  public let document: ModelDocument
  /// The model.
  public let definition: SchemaDefinition
  /// The model, built: it stands any check that a store makes.
  public let schema: Schema
  /// What was passed over or mended, in the order of the lines.
  public let warnings: [ModelFileWarning]

  /// Reads a model file.
  ///
  /// - Throws: `malformed` for what is no XML, `unusable` for what no model can be, `model` for what the checks of
  ///   every model find. O(length of the file).
  @_optimize(none)
  public init(contents bytes: [UInt8]) throws(ModelFileError) {
    let document: ModelDocument
    do throws(ModelDocumentError) { document = try ModelDocument(contents: bytes) } catch {
      throw ModelFileError(error)
    }
    try self.init(document)
  }

  /// Builds the model of a document.
  ///
  /// - Throws: `model` for what the checks of every model find.
  @_optimize(none)
  public init(_ document: ModelDocument) throws(ModelFileError) {
    var reader = SchemaReader(document)
    do throws(SchemaError) { schema = try reader.build() } catch { throw .model(error) }
    self.document = document
    definition = reader.definition
    warnings = reader.warnings.ordered { $0.line < $1.line }
  }
}
