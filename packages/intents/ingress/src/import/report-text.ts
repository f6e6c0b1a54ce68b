import { keyOf, shown } from '@spout/connector'
import type { Finding, IngressReport, Outcome, UnitReport } from './report.ts'

/** All outcomes, the worst first. */
const OUTCOMES: readonly Outcome[] = ['refused', 'lost', 'differs', 'taken']
const MEANINGS: Readonly<Record<Outcome, string>> = {
  refused: 'with paths that would answer 503',
  lost: 'served without something that they say',
  differs: 'served with a difference',
  taken: 'served as before',
}

/** The worst outcome among the findings of an Ingress. */
export const worstOf = ({ findings }: IngressReport): Outcome =>
  OUTCOMES.find((outcome) => findings.some((one) => one.outcome === outcome)) ?? 'taken'

/** The report as text for people. */
export function reportText(units: readonly UnitReport[]): string {
  const all = units.flatMap(({ ingresses }) => ingresses)
  const counts = OUTCOMES.map((outcome) => [outcome, all.filter((one) => worstOf(one) === outcome).length] as const)
  const head = [
    `Ingresses: ${all.length}. Addresses, one for each namespace and class: ${units.length}.`,
    ...counts.map(([outcome, count]) => `  ${String(count).padStart(5)} ${MEANINGS[outcome]}`),
  ]
  const bodies = units.flatMap(({ className, ingresses }) =>
    ingresses.map((one) => {
      const of = className === '' ? '' : `, class ${shown(className)}`
      return [
        '',
        `${shown(keyOf(one.ingress))}${of}: ${MEANINGS[worstOf(one)]}`,
        ...one.findings
          .toSorted((a, b) => OUTCOMES.indexOf(a.outcome) - OUTCOMES.indexOf(b.outcome))
          .map((finding) => `  ${lineOf(finding)}`),
      ]
    }),
  )
  return [...head, ...bodies.flat(), ''].join('\n')
}

const lineOf = ({ outcome, about, note }: Finding): string =>
  `${outcome.padEnd(7)} ${shown(about)}${note === '' ? '' : `: ${note.replace(/^not taken: /, '')}`}`
