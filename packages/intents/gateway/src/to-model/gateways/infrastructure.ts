import { printable, sorted } from '@spout/connector'
import type { Gateway } from '../../objects/gateway.ts'

/**
 * Annotation of a load balancer with the labels that its tags are made of. Tags are not compared with the wanted
 * content, annotations are: so a change of labels is noticed.
 */
const LABELS_ANNOTATION = 'kubernetes.labels'
/** Annotation of a load balancer with the Gateway's annotations for what is made for it, as a JSON object. */
const ANNOTATIONS_ANNOTATION = 'kubernetes.annotations'
const LONGEST_TAG = 255
const LONGEST_ANNOTATION = 4096

/** What `spec.infrastructure` of a Gateway adds to its load balancer. */
export interface Infrastructure {
  /** `key=value` for each label. Absent: there are none. */
  readonly tags?: readonly string[]
  /** One annotation, which changes with the tags, and one with the annotations. */
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * Puts labels and annotations on the load balancer, the only thing that is made for a Gateway: labels as tags, by which
 * people find it, and annotations as one of its own, for programs that read it. One that is too long, or contains
 * characters that it may not have, is left out.
 */
export function infrastructureOf({ spec: { infrastructure } }: Gateway): Infrastructure {
  const tags = Object.entries(sorted(infrastructure?.labels ?? {}))
    .map(([key, value]) => `${key}=${value}`)
    .filter((tag) => tag.length <= LONGEST_TAG && tag === printable(tag))
  const told = toldAnnotations(infrastructure?.annotations ?? {})
  const annotations = {
    ...(tags.length > 0 && { [LABELS_ANNOTATION]: tags.join() }),
    ...(told !== null && { [ANNOTATIONS_ANNOTATION]: told }),
  }
  return { ...(tags.length > 0 && { tags }), annotations }
}

/** As many annotations as fit, in the order of their keys; null for none. */
function toldAnnotations(all: Readonly<Record<string, string>>): string | null {
  let text: string | null = null
  const told: Record<string, string> = {}
  for (const [key, value] of Object.entries(sorted(all))) {
    if (key !== printable(key) || value !== printable(value)) continue
    const longer = JSON.stringify({ ...told, [key]: value })
    if (longer.length > LONGEST_ANNOTATION) continue
    told[key] = value
    text = longer
  }
  return text
}
