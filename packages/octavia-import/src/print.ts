import type { Outcome } from './apply.ts'
import type { Kind } from './kinds.ts'
import type { Step } from './step.ts'

const DEPTH: Readonly<Record<Kind, number>> = {
  ...{ flavorprofile: 0, flavor: 0, availability_zone_profile: 0, availability_zone: 0, quota: 0 },
  ...{ security_group: 0, security_group_rule: 1, floatingip: 1 },
  ...{ loadbalancer: 0, pool: 1, listener: 1 },
  ...{ member: 2, healthmonitor: 2, l7policy: 2, rule: 3 },
}

const WORD: Readonly<Record<Outcome['result'], string>> = {
  create: 'would be created',
  created: 'created',
  equal: 'is there, equal',
  differs: 'is there, and differs',
  refused: 'NOT TAKEN OVER',
}

/** A line for the object, and one for each remark. */
export function stepText({ kind, title, result, notes }: Step | Outcome): string {
  const indent = '  '.repeat(DEPTH[kind])
  const remarks = notes.map(({ field, text }) => `${indent}    ${field}: ${text}\n`)
  return `${indent}${title}: ${WORD[result]}\n${remarks.join('')}`
}

/** `12 created, 3 equal` */
export function countsText(outcomes: readonly { readonly result: Outcome['result'] }[]): string {
  const words = {
    create: 'to be created',
    created: 'created',
    equal: 'equal',
    differs: 'different',
    refused: 'not taken over',
  }
  const counts = Object.entries(words).flatMap(([result, word]) => {
    const count = outcomes.filter((one) => one.result === result).length
    return count === 0 ? [] : [`${count} ${word}`]
  })
  return counts.length === 0 ? 'nothing to import' : counts.join(', ')
}
