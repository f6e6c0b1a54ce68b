import { printable, sorted } from '@spout/connector'
import type { Gateway } from '../../objects/gateway.ts'

/**
 * Annotation of a load balancer with the labels that its tags are made of. Tags are not compared with the wanted
 * content, annotations are: so a change of labels is noticed.
 */
const LABELS_ANNOTATION = 'kubernetes.labels'
const LONGEST_TAG = 255

/** What `spec.infrastructure` of a Gateway adds to its load balancer. */
export interface Infrastructure {
  /** `key=value` for each label. Absent: there are none. */
  readonly tags?: readonly string[]
  /** One annotation, which changes with the tags. */
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * Turns labels into tags of the load balancer, the only thing that is made for a Gateway. A label that is too long for
 * a tag, or contains characters that no label may have, is left out. Annotations are left out, because no controller
 * would read them there.
 */
export function infrastructureOf({ spec: { infrastructure } }: Gateway): Infrastructure {
  const tags = Object.entries(sorted(infrastructure?.labels ?? {}))
    .map(([key, value]) => `${key}=${value}`)
    .filter((tag) => tag.length <= LONGEST_TAG && tag === printable(tag))
  return tags.length === 0 ? { annotations: {} } : { tags, annotations: { [LABELS_ANNOTATION]: tags.join() } }
}
