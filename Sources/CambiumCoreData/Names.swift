// Core Data's names.

/// ``ManagedObject``.
public typealias NSManagedObject = ManagedObject
/// ``ManagedObjectID``.
public typealias NSManagedObjectID = ManagedObjectID
/// ``ManagedObjectContext``.
public typealias NSManagedObjectContext = ManagedObjectContext
/// ``ConcurrencyType``.
public typealias NSManagedObjectContextConcurrencyType = ConcurrencyType
/// ``MergePolicy``.
public typealias NSMergePolicy = MergePolicy
/// ``MergePolicy/MergePolicyType``.
public typealias NSMergePolicyType = MergePolicy.MergePolicyType
/// ``MergeConflict``.
public typealias NSMergeConflict = MergeConflict
/// ``ConstraintConflict``.
public typealias NSConstraintConflict = ConstraintConflict
/// ``QueryGenerationToken``.
public typealias NSQueryGenerationToken = QueryGenerationToken

/// ``PersistentContainer``.
public typealias NSPersistentContainer = PersistentContainer
/// ``PersistentStore``.
public typealias NSPersistentStore = PersistentStore
/// ``PersistentStoreCoordinator``.
public typealias NSPersistentStoreCoordinator = PersistentStoreCoordinator
/// ``PersistentStoreDescription``.
public typealias NSPersistentStoreDescription = PersistentStoreDescription

/// ``ManagedObjectModel``.
public typealias NSManagedObjectModel = ManagedObjectModel
/// ``EntityDescription``.
public typealias NSEntityDescription = EntityDescription
/// ``PropertyDescription``.
public typealias NSPropertyDescription = PropertyDescription
/// ``AttributeDescription``.
public typealias NSAttributeDescription = AttributeDescription
/// ``CompositeAttributeDescription``.
public typealias NSCompositeAttributeDescription = CompositeAttributeDescription
/// ``DerivedAttributeDescription``.
public typealias NSDerivedAttributeDescription = DerivedAttributeDescription
/// ``RelationshipDescription``.
public typealias NSRelationshipDescription = RelationshipDescription
/// ``FetchedPropertyDescription``.
public typealias NSFetchedPropertyDescription = FetchedPropertyDescription
/// ``FetchIndexDescription``.
public typealias NSFetchIndexDescription = FetchIndexDescription
/// ``FetchIndexElementDescription``.
public typealias NSFetchIndexElementDescription = FetchIndexElementDescription
/// ``FetchIndexElementType``.
public typealias NSFetchIndexElementType = FetchIndexElementType
/// ``AttributeType``.
public typealias NSAttributeType = AttributeType
/// ``DeleteRule``.
public typealias NSDeleteRule = DeleteRule

/// ``FetchRequest``.
public typealias NSFetchRequest = FetchRequest
/// What a request without a class of one's own fetches: Core Data's protocol is its own instance, which Swift's
/// protocols are not, so that the name stands for objects here.
public typealias NSFetchRequestResult = ManagedObject
/// ``FetchRequestResultType``.
public typealias NSFetchRequestResultType = FetchRequestResultType
/// ``AsynchronousFetchRequest``.
public typealias NSAsynchronousFetchRequest = AsynchronousFetchRequest
/// ``AsynchronousFetchResult``.
public typealias NSAsynchronousFetchResult = AsynchronousFetchResult
/// ``FetchedResultsController``.
public typealias NSFetchedResultsController = FetchedResultsController
/// ``FetchedResultsChangeType``.
public typealias NSFetchedResultsChangeType = FetchedResultsChangeType

/// ``PersistentHistoryChangeRequest``.
public typealias NSPersistentHistoryChangeRequest = PersistentHistoryChangeRequest
/// ``PersistentHistoryResult``.
public typealias NSPersistentHistoryResult = PersistentHistoryResult
/// ``PersistentHistoryResultType``.
public typealias NSPersistentHistoryResultType = PersistentHistoryResultType
/// ``PersistentHistoryTransaction``.
public typealias NSPersistentHistoryTransaction = PersistentHistoryTransaction
/// ``PersistentHistoryChange``.
public typealias NSPersistentHistoryChange = PersistentHistoryChange
/// ``PersistentHistoryChangeType``.
public typealias NSPersistentHistoryChangeType = PersistentHistoryChangeType
/// ``PersistentHistoryToken``.
public typealias NSPersistentHistoryToken = PersistentHistoryToken

/// ``MappingModel``.
public typealias NSMappingModel = MappingModel
/// ``EntityMapping``.
public typealias NSEntityMapping = EntityMapping
/// ``EntityMappingType``.
public typealias NSEntityMappingType = EntityMappingType
/// ``PropertyMapping``.
public typealias NSPropertyMapping = PropertyMapping
/// ``EntityMigrationPolicy``.
public typealias NSEntityMigrationPolicy = EntityMigrationPolicy
/// ``MigrationManager``.
public typealias NSMigrationManager = MigrationManager
/// ``MigrationStage``.
public typealias NSMigrationStage = MigrationStage
/// ``LightweightMigrationStage``.
public typealias NSLightweightMigrationStage = LightweightMigrationStage
/// ``CustomMigrationStage``.
public typealias NSCustomMigrationStage = CustomMigrationStage
/// ``StagedMigrationManager``.
public typealias NSStagedMigrationManager = StagedMigrationManager
/// ``ManagedObjectModelReference``.
public typealias NSManagedObjectModelReference = ManagedObjectModelReference
