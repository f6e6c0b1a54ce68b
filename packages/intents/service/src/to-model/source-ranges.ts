import { type OrRefusal, refuse, shown } from '@spout/connector'
import type { Service } from '@spout/kube'
import { AddressSyntaxError, formatCidr, parseCidr } from '@spout/net'
import { fieldOf, listAnnotation } from './annotations.ts'

const MOST = 200

/**
 * The clients that may connect: null for all, otherwise canonical prefixes, sorted. An invalid range refuses the
 * Service.
 */
export function sourceRangesOf(service: Service): OrRefusal<readonly string[] | null> {
  const own = service.spec.loadBalancerSourceRanges ?? []
  let field = 'spec.loadBalancerSourceRanges'
  let wanted: readonly string[] = own
  if (own.length === 0) {
    const annotated = listAnnotation(service, 'sourceRanges')
    if ('refusal' in annotated) return annotated
    wanted = annotated.value ?? []
    field = fieldOf('sourceRanges')
  }
  if (wanted.length === 0) return { value: null }
  if (wanted.length > MOST)
    return refuse('TooManySourceRanges', field, `There are ${wanted.length}; at most ${MOST} can be kept.`)
  const ranges = new Set<string>()
  for (const text of wanted) {
    const range = prefixOf(text)
    if (range === null)
      return refuse('InvalidSourceRange', field, `"${shown(text)}" is not a prefix like 192.0.2.0/24.`)
    ranges.add(range)
  }
  return { value: [...ranges].sort() }
}

/** Clears the host bits, as Kubernetes does. */
function prefixOf(text: string): string | null {
  try {
    return formatCidr(parseCidr(text.trim(), 'clear'))
  } catch (error) {
    if (error instanceof AddressSyntaxError) return null
    throw error
  }
}
