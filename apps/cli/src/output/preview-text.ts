import { styleText } from 'node:util'
import type { ConnectionFate, PartDifference, PlanDifference, Preview } from '@spout/model'
import { endpointText } from '@spout/net'
import { printable } from '@spout/runtime/printable'
import type { Printing } from './print.ts'
import { printData } from './print-data.ts'
import { renderTable } from './table.ts'

/** Prints what a write would do, in the requested format. */
export const printPreview = (preview: Preview, { format, colour }: Printing): string =>
  printData(preview, format, () => previewText(preview, colour))

const FATES: Readonly<
  Record<ConnectionFate['fate'], { readonly word: string; readonly colour: 'red' | 'yellow' | null }>
> = {
  end: { word: 'end', colour: 'red' },
  'may-end': { word: 'may end', colour: 'red' },
  drain: { word: 'drain', colour: 'yellow' },
  stay: { word: 'stay', colour: null },
}

/** The word of a fate, in a column. */
export function fateText(fate: ConnectionFate['fate'], colour: boolean): string {
  const { word, colour: shade } = FATES[fate]
  const text = word.padEnd(8)
  return colour && shade ? styleText(shade, text) : text
}

/** What ends first, then what changes. */
export function previewText({ addresses, dnsNames, plan }: Preview, colour: boolean): string {
  const bold = (text: string): string => (colour ? styleText('bold', text) : text)
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ['Open connections', connectionLines(plan, colour)],
    ['Addresses', addresses.map((one) => `${one.address}  ${one.change}${restText(one.restSeconds)}`)],
    [
      'Names',
      [
        ...dnsNames.added.map((name) => `+ ${printable(name)}`),
        ...dnsNames.removed.map((name) => `- ${printable(name)}`),
      ],
    ],
    ['Changes', plan.parts.flatMap(partLines)],
    ['Nodes', nodeLines(plan)],
  ]
  const shown = parts.filter(([, lines]) => lines.length > 0)
  return [
    ...shown.map(([title, lines]) => `${bold(title)}\n${lines.map((line) => `  ${line}\n`).join('')}\n`),
    'Nothing was changed: this was a dry run.\n',
  ].join('')
}

const restText = (seconds: number): string => (seconds === 0 ? '' : `, and rests for ${seconds} s`)

function connectionLines({ connections }: PlanDifference, colour: boolean): readonly string[] {
  if (connections.length === 0) return ['All go on.']
  return connections.flatMap((one) => {
    const within = one.afterSeconds === null || one.afterSeconds === 0 ? '' : ` After ${one.afterSeconds} s.`
    return [
      `${fateText(one.fate, colour)}${placeText(one)}${one.message}${within}`,
      ...memberLines(one.members, one.memberCount).map((line) => `${' '.repeat(8)}${line}`),
    ]
  })
}

function placeText({ listener, pool }: ConnectionFate): string {
  const words = Object.entries({ listener, pool }).flatMap(([what, part]) =>
    part === null ? [] : [`${what} ${printable(part.name || part.id)}`],
  )
  return words.length === 0 ? '' : `${words.join(', ')}: `
}

interface ShownMember {
  readonly name: string
  readonly address: string
  readonly port: number
}

/** So many members are printed; `-o json` has more. */
const MOST_LINES = 10

const memberText = ({ name, address, port }: ShownMember): string =>
  `${endpointText({ address, port })}${name === '' ? '' : ` (${printable(name)})`}`

const memberLines = (members: readonly ShownMember[], count: number): readonly string[] => [
  ...members.slice(0, MOST_LINES).map(memberText),
  ...moreThan(count),
]

const moreThan = (count: number): readonly string[] => (count > MOST_LINES ? [`and ${count - MOST_LINES} more`] : [])

const SIGNS = { added: '+', changed: '~', removed: '-' } as const

function partLines({
  part,
  id,
  name,
  change,
  fields,
  members,
  memberChanges,
  slots,
}: PartDifference): readonly string[] {
  const what = [
    ...fields,
    ...(slots !== null && slots.moved > 0 ? [`${slots.moved} of ${slots.size} hash slots get another member`] : []),
  ]
  return [
    `${SIGNS[change]} ${part} ${printable(name || id)}${what.length === 0 ? '' : `: ${what.join(', ')}`}`,
    ...members
      .slice(0, MOST_LINES)
      .map((member) => `    ${SIGNS[member.change]} ${memberText(member)}${weightText(member.weight)}`),
    ...moreThan(memberChanges).map((line) => `    ${line}`),
  ]
}

const weightText = ({ before, after }: PartDifference['members'][number]['weight']): string =>
  before === null || after === null || before === after ? '' : `, weight ${before} -> ${after}`

function nodeLines({ nodes, reason }: PlanDifference): readonly string[] {
  const rows = nodes.map(({ nodeName, change, announces, proxy }) => [
    printable(nodeName),
    change,
    announces.before === announces.after
      ? yesOrNo(announces.after)
      : `${yesOrNo(announces.before)} -> ${yesOrNo(announces.after)}`,
    PROXIES[proxy],
  ])
  return [
    ...(reason === null ? [] : [printable(reason.message)]),
    ...(rows.length === 0
      ? []
      : renderTable(['NODE', 'LOAD BALANCER', 'ANNOUNCES', 'PROXY'], rows, false).trimEnd().split('\n')),
  ]
}

const yesOrNo = (answer: boolean): string => (answer ? 'yes' : 'no')

const PROXIES = {
  unchanged: '-',
  'run-time': 'changed while it runs',
  'may-restart': 'may need a new process, which leaves connections to the old one',
} as const
