import type { KubeObject } from '../types/index.ts'

/** The index values of an object. Gets the object as it arrived, before it is trimmed. */
export type IndexFunction<Raw extends KubeObject = KubeObject> = (raw: Raw) => readonly string[]

export const byNamespace: IndexFunction = ({ metadata }) =>
  metadata.namespace === undefined ? [] : [metadata.namespace]

/** Values are `namespace/label value`, or only the label value for objects without a namespace. */
export const byLabel =
  (label: string): IndexFunction =>
  ({ metadata }) => {
    const value = metadata.labels?.[label]
    if (value === undefined) return []
    return [metadata.namespace === undefined ? value : `${metadata.namespace}/${value}`]
  }

/** Values are the UIDs of all owners. */
export const byOwner: IndexFunction = ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? []
