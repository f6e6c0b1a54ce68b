import type { KubeObject } from '../types/index.ts'

/** The values under which an object is found; looks at the object as it arrived, before it is trimmed. */
export type IndexFunction<Raw extends KubeObject = KubeObject> = (raw: Raw) => readonly string[]

export const byNamespace: IndexFunction = ({ metadata }) =>
  metadata.namespace === undefined ? [] : [metadata.namespace]

/** Values are `namespace/label value`, or the label value alone for what has no namespace. */
export const byLabel =
  (label: string): IndexFunction =>
  ({ metadata }) => {
    const value = metadata.labels?.[label]
    if (value === undefined) return []
    return [metadata.namespace === undefined ? value : `${metadata.namespace}/${value}`]
  }

/** Values are the UIDs of all owners. */
export const byOwner: IndexFunction = ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? []
