// Documents, XML and property lists come with the models that are made of them.
@_exported import CambiumModelFiles
