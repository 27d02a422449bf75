/// Changes of the model, on a store of their own.
func migrationWorkloads(_ context: RunContext) -> [MainWorkload] {
  [
    MainWorkload(
      "migrate",
      [
        Line("attribute-added", "attribute added", .milliseconds),
        Line("attribute-renamed", "attribute renamed", .milliseconds),
        Line("attribute-dropped", "attribute dropped, its room freed", .milliseconds),
        Line("attribute-dropped-deferred", "attribute dropped, its room freed later where that can be", .milliseconds),
        Line("index-created", "index created", .milliseconds),
        Line("entity-copied", "every row in a new shape, three indexes made", .milliseconds),
      ], rounds: 3,
      run: { peer, context, _ in
        let peer = try Program.peer(peer.name, directory: context.options.directory + "/migrate")
        try peer.create(.synced)
        try peer.load(context.data.aircraft[...])
        // What was loaded is in its pages before anything is changed.
        _ = try peer.fileBytes()
        var result: [String: Double] = [:]
        for (line, change) in [
          ("attribute-added", SchemaChange.addAttribute), ("attribute-renamed", .renameAttribute),
          ("attribute-dropped-deferred", .dropAttributeDeferred), ("attribute-dropped", .dropAttribute),
          ("index-created", .createIndex), ("entity-copied", .copyEntity),
        ] {
          result[line] = 1e3 * (try seconds { try peer.change(change) })
        }
        try peer.close()
        return result
      })
  ]
}
