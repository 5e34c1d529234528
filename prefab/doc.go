// Package prefab makes entities from templates. A template is a subtree of ordinary entities that queries
// skip. Later changes of the template reach its instances.
//
// # Types
//
//   - [Prefabs] holds the templates of a world. Make it with [New]. [Prefabs.Mark] turns an entity and its
//     descendants into a template.
//   - [Template] is one template. [Template.Instantiate] and [Template.InstantiateN] make instances.
//     [Template.Override] makes a variant. [Template.Apply] carries changes to the instances.
//   - [Prefabs.Differs] lists the fields in which an entity differs from its template, and [Prefabs.Revert]
//     gives a field the template's value again.
//
// # Terminology
//
//   - hierarchy: a [vast.Relation] without circles
//   - node: an entity of a template: its root, or a descendant of the root in a hierarchy
//   - base: a hidden copy of a node, as the node was at the last Apply (or at Mark)
//   - instance: a copy of a template; each of its entities is linked to the base of a node
//   - variant: a template whose nodes are an instance of another template
//   - field: a part of a component without parts of its own, such as Hull.Points or Path.Stops[2]; a
//     component of a [vast.HeapColumn] is one field, and so are a link of a [vast.Relation] and an edge of
//     [vast.Edges]
//   - override: a field in which an instance differs from the base
//
// # Changes of a template
//
// A program changes a template as it changes other entities: it writes components, adds and removes
// components, links, edges, and entities below the root. The change reaches instances with Apply:
//
//   - A field of an instance gets the new value if it has the value of the base. An override stays.
//   - A component that the template gained is added to the instances that lack it. A component that the
//     template lost is removed from the instances that have the values of the base.
//   - A node that the template gained is copied into each instance that has the parent of the node. If the
//     template lost a node, an instance loses its copy of the node. But a copy with an override, or with
//     entities of the program below it, lives on without a template.
//   - Links follow the rule for fields. A link to a node becomes a link to the node's copy in the same
//     instance, and references in components do, too. If the new link would close a circle in an instance,
//     the old one stays.
//   - An edge that the template gained is added to the instances that lack it. An edge that the template lost
//     or changed is removed or changed in the instances that have the value of the base.
//
// Values are compared by their bytes, and values on the Go heap by == or reflect.DeepEqual. The place of a
// root does not belong to the template: an instance is born without a parent. New links and edges come last
// in the order of sources and targets. A [vast.Disabled] is not copied, and Apply does not change it. Names
// are not copied.
//
// # Variants and nested templates
//
// A template can contain instances of other templates. Apply of the inner template also applies the templates
// that contain its instances, variants too. A template cannot contain itself.
//
// # Instances
//
// Instances are ordinary entities. A copy by [vast.World.Clone] or package clone is an instance, too. If the
// root of a template is deleted, its bases are deleted with it, and the instances live on without a template.
//
// # Storage
//
// Everything lies in tags and relations of the world, so package store saves templates with the world. New
// registers the tags Prefab and PrefabBase, and the relations PrefabOf (from an entity of an instance to the
// base of its node), PrefabNode (from a base to its node) and PrefabRoot (from a base to the root). Do not
// change them. A hook such as [vast.Column.OnAdd] also sees nodes and bases.
//
// # Rules
//
// All functions except look-ups change the structure of the world, and the rules of [vast.World] hold. The
// functions of one Prefabs must not run at the same time.
package prefab
