// Types of the layers below that are this module's under the same names. Who imports this module alone sees their cases
// and members as well, also with the upcoming feature `MemberImportVisibility`.
@_exported import enum CambiumEngine.AttributeType
@_exported import struct CambiumEngine.ComparisonOptions
@_exported import struct CambiumEngine.DeferredTask
@_exported import enum CambiumEngine.DeleteRule
@_exported import struct CambiumEngine.MigrationBlock
@_exported import struct CambiumEngine.MigrationPlan
@_exported import struct CambiumEngine.MigrationStep
@_exported import struct CambiumEngine.PriorState
@_exported import enum CambiumKernel.Durability
@_exported import struct CambiumKernel.RetainedCommit
