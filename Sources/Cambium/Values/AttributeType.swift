import CambiumEngine

/// The type of an attribute, with Core Data's raw values.
public typealias AttributeType = CambiumEngine.AttributeType
