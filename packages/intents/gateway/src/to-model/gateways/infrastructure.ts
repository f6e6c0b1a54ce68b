import { printable, sorted } from '@spout/connector'
import type { Gateway } from '../../objects/gateway.ts'

/** Annotation of a load balancer: the labels that its tags are made of. */
const LABELS_ANNOTATION = 'kubernetes.labels'
const LONGEST_TAG = 255

/** What the load balancer of a Gateway has of `spec.infrastructure`. */
export interface Infrastructure {
  /** `key=value` of each label. Absent: it has none. */
  readonly tags?: readonly string[]
  /** Changes with the tags. */
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * The labels as tags of the load balancer, which is all that is made for a Gateway. One that is longer than a tag may be,
 * or has characters that no label has, is left out. Annotations say things to other controllers, and nobody reads them there.
 */
export function infrastructureOf({ spec: { infrastructure } }: Gateway): Infrastructure {
  const tags = Object.entries(sorted(infrastructure?.labels ?? {}))
    .map(([key, value]) => `${key}=${value}`)
    .filter((tag) => tag.length <= LONGEST_TAG && tag === printable(tag))
  return tags.length === 0 ? { annotations: {} } : { tags, annotations: { [LABELS_ANNOTATION]: tags.join() } }
}
