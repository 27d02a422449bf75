/// The version of the tool, which is the package's.
let toolVersion = "0.1.0"

/// What `cambium --help` prints.
let generalHelp = """
  usage: cambium COMMAND STORE [ARGUMENT...] [--json]

  Looks into Cambium stores and looks after them. The model comes from the file; the application is not needed.

    info STORE                      what is in the store: model, numbers of objects, sizes
    check STORE                     verify every page, checksum, row, index and relationship
    count STORE ENTITY [PREDICATE]  how many objects match
    query STORE ENTITY [PREDICATE]  the objects that match, or what groups of them come to
    compact STORE                   give unused room back to the file system
    migrate plan STORE MODEL        what giving a store another model would do
    migrate run STORE MODEL         give a store another model
    migrate finish STORE            do what a migration has put off
    migrate rollback STORE          undo the newest migration
    migrate confirm STORE           give the state before migrations up, and its room
    model checksum MODEL [VERSION]  tell versions of a model apart
    model compile MODEL FOLDER      write a model for the application to load
    model diff OLD NEW              what differs, and whether a migration can be inferred
    model lint MODEL [VERSION]      what in a model is probably not meant
    model pairs MODEL               which versions of a model can live together
    model promote DEV PROD          make a model the one that all devices share
    generate MODEL [VERSION]        write Swift code of a model, or a model for Xcode
    migrate-source FOLDER           move Core Data sources to CambiumCoreData

    --json     answer in JSON
    --help     explain; after a command, that command; also: cambium help COMMAND
    --version  tell the version

  Exit status: 0 done; 1 the store is damaged, a model or a folder of sources has findings, or something is in the way of a migration; 2 wrong usage; 3 it could not be done (no such file, in use, ...).
  """

/// The command that explains the others.
let helpCommand = "help"

/// Returns the text that `cambium help` prints, with the name of a command behind it or without.
func helpText(about name: String?) throws(ToolError) -> String {
  guard let name, name != helpCommand else { return generalHelp }
  return try Command(named: name).help
}

extension Command {
  /// How to write the command.
  var synopsis: String {
    switch self {
    case .info: return "cambium info STORE [--json]"
    case .check: return "cambium check STORE [--json]"
    case .count: return "cambium count STORE ENTITY [PREDICATE] [--json]"
    case .query:
      return """
        cambium query STORE ENTITY [PREDICATE] [--columns A,B,...] [--sort KEYS] [--limit N] [--offset N]
                            [--group-by A,B,... [--having PREDICATE]] [--json | --csv] [--explain [--run]]
        """
    case .compact: return "cambium compact STORE [--json]"
    case .migrate:
      return
        """
        cambium migrate plan|run|finish|rollback|confirm STORE [MODEL [VERSION]] [--deferred] [--keep] [--discard]
                              [--budget-milliseconds N] [--budget-pages N] [--json]
        """
    case .model: return "cambium model checksum|compile|diff|lint|pairs|promote MODEL ... [--sync] [--json]"
    case .generate:
      return """
        cambium generate MODEL [VERSION] --swiftdata [--public] [--output FOLDER] [--json]
               cambium generate MODEL [VERSION] --managed-objects | --builder [--public] [--output FOLDER] [--json]
               cambium generate MODEL [VERSION] --xcdatamodel [--output FOLDER] [--json]
        """
    case .migrateSource: return "cambium migrate-source FOLDER [--write] [--model MODEL] [--json]"
    }
  }

  /// What `cambium COMMAND --help` prints.
  var help: String { "usage: \(synopsis)\n\n" + explanation }

  private var explanation: String {
    switch self {
    case .info:
      return """
        Prints the store's model (entities, attributes with composites taken apart, relationships, indexes and
        constraints), the number of objects of each entity, and what the file's bytes are used for. Writes nothing.
        """
    case .check:
      return """
        Reads the whole file and verifies checksums, the structure of every page, the order of keys, the accounts of
        space, each row against its layout, and each index, constraint and relationship against the rows, both ways.
        Prints one line for each finding, with its place in the file, and exits with 1 if there is any. Writes nothing.
        """
    case .count:
      return """
        Prints how many objects of ENTITY (and of the entities that inherit from it) match PREDICATE, or how many there
        are. PREDICATE is in Core Data's format syntax, with key paths through composites and to-one relationships:

          cambium count log.store LogEntry 'departure.delay > 60 AND origin.faaIdentifier == "JFK"'
          cambium count log.store Airport 'place.location.latitude BETWEEN {40, 41}'
          cambium count log.store LogEntry 'date >= "2013-01-05" AND date < "2013-01-06T12:00" AND aircraft == nil'
          cambium count log.store LogEntry 'aircraft IN {Aircraft/3, Aircraft/12}'

        Dates are ISO 8601 in quotes: a date is its midnight; a time may have seconds, a fraction, and a zone, Z or
        +01:00; without a zone it is UTC. Objects are ENTITY/ROW, as 'query' prints them. Writes nothing.
        """
    case .query:
      return """
        Prints a row for each object of ENTITY that matches PREDICATE (see 'cambium count --help'), as soon as it is found
        unless an order is asked for: a table, JSON with an object on each line (--json), or CSV by RFC 4180 (--csv).

        --columns  key paths, through composites and to-one relationships, and what predicates' expressions make of them,
                   each with 'AS name' behind it or not. Without it: all attributes and to-one relationships.
        --sort     columns or key paths; -KEY the largest first; KEY:ci small and capital letters alike, KEY:natural
                   besides with numbers by their value; PLACE:near(LATITUDE, LONGITUDE) by the distance of a composite
        --limit, --offset   how many rows at most, and how many to leave out before them
        --group-by key paths: a row for each group of objects that have the same values. Columns are these and
                   aggregates: count, sum, average, min, max, median, mode, stddev. Without --columns: these and count.
        --having   which groups: a predicate on columns, by name, and aggregates
        --explain  instead of rows how they would be found: by which indexes, of about how many rows; with --run also how
                   many there are

          cambium query log.store LogEntry 'departure.delay > 600' --columns date,airline.code,departure.delay --sort -departure.delay
          cambium query log.store LogEntry --group-by airline.name --having 'count > 1000' --sort -mean \
            --columns 'airline.name, count(SELF) AS count, average(arrival.delay) AS mean'
          cambium query log.store LogEntry 'aircraft == nil' --columns 'count(SELF) AS flights, max(distance)'

        Dates are printed in UTC, bytes as hexadecimal digits, objects as ENTITY/ROW. Null is 'nil' in a table, an empty
        field in CSV (empty text is ""). Writes nothing to the store.
        """
    case .compact:
      return """
        Moves what is live to the front of the file and gives the rest back to the file system. The store must not be
        in use. A kill or a power cut at any moment leaves a sound store with the same content.
        """
    case .migrate:
      return """
        MODEL is what 'cambium model' takes: a folder of Xcode's or a compiled one, a file, or another store.

          cambium migrate plan log.store Flights.xcdatamodeld V2       the steps, and what is in the way; changes nothing
          cambium migrate run log.store Flights.xcdatamodeld V2        all of it, or nothing
          cambium migrate run log.store other.store --deferred         puts off what can be put off
          cambium migrate finish log.store                             does that
          cambium migrate finish log.store --budget-milliseconds 500   does some of it; the next one goes on there
          cambium migrate rollback log.store [--discard]               undoes the migration

        The state before a migration is kept as long as something is put off, or, with --keep, until 'migrate confirm
        STORE'. rollback refuses if commits were made since, unless it may --discard them. Others may have the store open;
        they are told that it has another model. plan and run end with 1 if something is in the way.

        finish stops when its budget is used up: so many milliseconds, or so many pages of rows. It may be killed at any
        moment; what was done stays done.
        """
    case .model:
      return """
        A MODEL is a folder .xcdatamodeld or .xcdatamodel of Xcode's, a file 'contents' of one, a folder that 'compile'
        wrote, or, but for compile, a store, which holds its model.

          cambium model checksum Flights.xcdatamodeld           of every version; 'checksum MODEL V2' of one
          cambium model compile Flights.xcdatamodeld Flights.cambiummodel
          cambium model diff Flights.xcdatamodeld V1 V2         two versions of one model
          cambium model diff log.store Flights.xcdatamodeld     a store and the model it is to be opened with
          cambium model lint Flights.xcdatamodeld [V2] [--sync]
          cambium model pairs Flights.xcdatamodeld [--sync]     opens a store of each version with each later one
          cambium model promote Flights.xcdatamodeld Production.xcdatamodel

        diff marks with * what is stored, and ends with 1 if a store cannot be migrated without steps in between. lint
        ends with 1 if it finds anything, and pairs if a store cannot be migrated. A model that cannot be used at all
        ends with 1, with the line.

        --sync is for models that devices synchronise. lint also says what keeps the model from a cloud database; diff
        and pairs also end with 1 if the newer model does more than add to the older one. promote makes a model the one
        in production, a file to keep in the repository, and refuses the same.
        """
    case .generate:
      return """
        Writes Swift code of a MODEL of 'cambium model', or of the model that a store holds.

          cambium generate Flights.xcdatamodeld --swiftdata --output Sources/Flights/Models
          cambium generate Flights.xcdatamodeld "Flights 2" --managed-objects
          cambium generate Flights.xcdatamodeld --managed-objects --builder --output Sources/Flights/Models
          cambium generate log.store --xcdatamodel --output Flights.xcdatamodel

        --swiftdata        classes with @Model
        --managed-objects  classes with @Managed properties
        --builder          the model in the model builder; with --managed-objects, its entities name the classes
        --xcdatamodel      the file that Xcode's model editor keeps
        --public           public declarations
        --output           a folder to write into, which is made; without it the answer is the code, as one file

        A model of one version, or a VERSION that is named, becomes a file for each class. Of several versions each becomes
        a file with a namespace, such as FlightsV2, and one more file names the classes of the current version.

        What the code cannot express is listed, each with its place and the way out. Nothing is written then, and the exit
        status is 1.
        """
    case .migrateSource:
      return """
        Rewrites the Swift sources below FOLDER that use Core Data, so that they compile with CambiumCoreData: imports,
        @NSManaged properties and the generated addTo... and removeFrom... methods, @objc, #keyPath, and
        'catch let error as NSError'. Prints each change with its line, then what is left, by cause, with the way out.

          cambium migrate-source Sources/Library
          cambium migrate-source Sources/Library --model Library.xcdatamodeld --write

        --write  write the files; without it nothing is written
        --model  a MODEL of 'cambium model', which says what each property is

        Comments and strings stay as they are. Hidden folders, Pods, Carthage, DerivedData and node_modules are left out. It
        is a text tool and no compiler: compile what it has written, and commit the sources before. A second run changes
        nothing. Ends with 1 if something is left.
        """
    }
  }
}
