// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Core Data's names for the cases of Cambium's enumerations.

import CambiumEngine

extension AttributeType {
  /// ``undefined``.
  public static var undefinedAttributeType: Self { .undefined }
  /// ``integer16``.
  public static var integer16AttributeType: Self { .integer16 }
  /// ``integer32``.
  public static var integer32AttributeType: Self { .integer32 }
  /// ``integer64``.
  public static var integer64AttributeType: Self { .integer64 }
  /// ``decimal``.
  public static var decimalAttributeType: Self { .decimal }
  /// ``double``.
  public static var doubleAttributeType: Self { .double }
  /// ``float``.
  public static var floatAttributeType: Self { .float }
  /// ``string``.
  public static var stringAttributeType: Self { .string }
  /// ``boolean``.
  public static var booleanAttributeType: Self { .boolean }
  /// ``date``.
  public static var dateAttributeType: Self { .date }
  /// ``binary``.
  public static var binaryDataAttributeType: Self { .binary }
  /// ``uuid``.
  public static var UUIDAttributeType: Self { .uuid }
  /// ``uri``.
  public static var URIAttributeType: Self { .uri }
  /// ``transformable``.
  public static var transformableAttributeType: Self { .transformable }
  /// ``objectID``.
  public static var objectIDAttributeType: Self { .objectID }
  /// ``composite``.
  public static var compositeAttributeType: Self { .composite }
  /// ``binary``.
  public static var binaryData: Self { .binary }
}

extension DeleteRule {
  /// ``noAction``.
  public static var noActionDeleteRule: Self { .noAction }
  /// ``nullify``.
  public static var nullifyDeleteRule: Self { .nullify }
  /// ``cascade``.
  public static var cascadeDeleteRule: Self { .cascade }
  /// ``deny``.
  public static var denyDeleteRule: Self { .deny }
}

extension FetchRequestResultType {
  /// ``managedObject``.
  public static var managedObjectResultType: Self { .managedObject }
  /// ``managedObjectID``.
  public static var managedObjectIDResultType: Self { .managedObjectID }
  /// ``dictionary``.
  public static var dictionaryResultType: Self { .dictionary }
  /// ``count``.
  public static var countResultType: Self { .count }
}

extension ConcurrencyType {
  /// ``privateQueue``.
  public static var privateQueueConcurrencyType: Self { .privateQueue }
  /// ``mainQueue``.
  public static var mainQueueConcurrencyType: Self { .mainQueue }
}

extension MergePolicy.MergePolicyType {
  /// ``error``.
  public static var errorMergePolicyType: Self { .error }
  /// ``mergeByPropertyStoreTrump``.
  public static var mergeByPropertyStoreTrumpMergePolicyType: Self { .mergeByPropertyStoreTrump }
  /// ``mergeByPropertyObjectTrump``.
  public static var mergeByPropertyObjectTrumpMergePolicyType: Self { .mergeByPropertyObjectTrump }
  /// ``overwrite``.
  public static var overwriteMergePolicyType: Self { .overwrite }
  /// ``rollback``.
  public static var rollbackMergePolicyType: Self { .rollback }
}

extension BatchResultType {
  /// ``statusOnly``.
  public static var resultTypeStatusOnly: Self { .statusOnly }
  /// ``objectIDs``.
  public static var resultTypeObjectIDs: Self { .objectIDs }
  /// ``count``.
  public static var resultTypeCount: Self { .count }
  /// ``statusOnly``.
  public static var statusOnlyResultType: Self { .statusOnly }
  /// ``objectIDs``.
  public static var updatedObjectIDsResultType: Self { .objectIDs }
  /// ``count``.
  public static var updatedObjectsCountResultType: Self { .count }
}

extension PersistentStoreType {
  /// Cambium's own kind of file; see ``NSSQLiteStoreType``.
  public static var sqlite: Self { .file }
}
