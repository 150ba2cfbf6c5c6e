"""Things from files: a mesh, a URDF or an MJCF becomes a category with true mass, pieces to touch and grasps that held.

`importer.import_asset` makes one, `store` keeps it, and the registry finds it beside the catalogue.
"""
