import { printable } from '@spout/runtime/printable'
import { renderTable } from '../../output/table.ts'
import type { Assessment } from './assess.ts'
import type { Part } from './part.ts'

const KINDS = { 'control-plane': 'control plane', node: 'node', connector: 'connector' } as const
const STANDINGS = {
  current: 'current',
  due: 'to be replaced',
  'too-old': 'too old',
  newer: 'newer than this command',
  unknown: 'unknown',
} as const
const HEADS = {
  current: ({ target }: Assessment) => `Everything is of version ${target}.`,
  ready: ({ target }: Assessment) => `The upgrade to ${target} may begin.`,
  blocked: ({ target }: Assessment) => `The upgrade to ${target} must wait.`,
} as const

/** The assessment for people. */
export function assessmentText(assessment: Assessment, colour: boolean): string {
  const { state, parts, obstacles, steps, mixed, back, notPromised } = assessment
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['First', obstacles.flatMap(({ about, message, fix }) => [`${about}: ${message}`, `    ${fix}`])],
    [
      'Steps, with packages (in a cluster: docs/upgrading.md)',
      steps.flatMap(({ what, commands }, at) => [`${at + 1}. ${what}`, ...commands.map((one) => `     ${one}`)]),
    ],
    ['Meanwhile', mixed],
    ['The way back', back],
    ['Not promised', notPromised],
  ]
  const table = renderTable(['PART', 'NAME', 'VERSION', 'STANDING'], parts.map(cells), colour)
  const texts = sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `\n${title}:\n${lines.map((line) => `  ${printable(line)}\n`).join('')}`)
  return `${HEADS[state](assessment)}\n\n${table}${texts.join('')}`
}

const cells = ({ kind, name, version, standing }: Part): readonly string[] => [
  ...[KINDS[kind], printable(name), printable(version ?? '-'), STANDINGS[standing]],
]
