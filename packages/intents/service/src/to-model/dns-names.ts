import { type Refusal, shown } from '@spout/connector'
import type { Service } from '@spout/kube'
import { MOST_DNS_NAMES, whyNotDnsName } from '@spout/model'
import { durationAnnotation, fieldOf, listAnnotation } from './annotations.ts'

/** The names that a Service asks for, in external-dns's annotations. */
export interface AskedNames {
  readonly dnsNames: readonly string[]
  readonly dnsTtlSeconds: number | null
  /** What is wrong with them. It keeps no Service from being served. */
  readonly notice: Refusal | null
}

const LIFETIME = { leastMs: 1000, mostMs: 604_800_000 } as const

/** Names that are none are left out, and said. */
export function dnsNamesOf(service: Service): AskedNames {
  const asked = listAnnotation(service, 'hostnames')
  if ('refusal' in asked) return { dnsNames: [], dnsTtlSeconds: null, notice: asked.refusal }
  const names = [...new Set((asked.value ?? []).map((name) => name.toLowerCase().replace(/\.$/, '')))]
  const wrong = names.find((name) => whyNotDnsName(name) !== null)
  const right = names.filter((name) => whyNotDnsName(name) === null)
  const lifetime = durationAnnotation(service, 'dnsTtl', LIFETIME)
  return {
    dnsNames: right.slice(0, MOST_DNS_NAMES),
    dnsTtlSeconds: 'refusal' in lifetime || lifetime.value === null ? null : Math.ceil(lifetime.value / 1000),
    notice:
      wrong !== undefined
        ? notice(`"${shown(wrong)}" is not published: it ${whyNotDnsName(wrong)}.`)
        : right.length > MOST_DNS_NAMES
          ? notice(`Only the first ${MOST_DNS_NAMES} names are published.`)
          : 'refusal' in lifetime
            ? lifetime.refusal
            : null,
  }
}

const notice = (message: string): Refusal => ({ reason: 'InvalidAnnotation', field: fieldOf('hostnames'), message })
