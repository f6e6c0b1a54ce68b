import type { KubeObject } from '../types/index.ts'

/** Computes the index values of an object, from the object before it is trimmed. */
export type IndexFunction<Raw extends KubeObject = KubeObject> = (raw: Raw) => readonly string[]

export const byNamespace: IndexFunction = ({ metadata }) =>
  metadata.namespace === undefined ? [] : [metadata.namespace]

/**
 * Index by the value of a label. Index values are `namespace/label value`, without a namespace the label value alone.
 */
export const byLabel =
  (label: string): IndexFunction =>
  ({ metadata }) => {
    const value = metadata.labels?.[label]
    if (value === undefined) return []
    return [metadata.namespace === undefined ? value : `${metadata.namespace}/${value}`]
  }

/** Index by the UIDs of owners. */
export const byOwner: IndexFunction = ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? []
