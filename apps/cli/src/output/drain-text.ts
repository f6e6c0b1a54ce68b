import { styleText } from 'node:util'
import type { DrainFate, DrainMove, DrainPreview } from '@spout/model'
import { printable } from '@spout/runtime/printable'
import { fateText } from './preview-text.ts'

/** What the drain of a node would do: what ends first, then what moves where. */
export function drainText(preview: DrainPreview, colour: boolean): string {
  const { connections, moves } = preview
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ['Open connections', connections.map((one) => fateLine(one, colour))],
    ['Moves', moves.length === 0 ? ['The node announces nothing: nothing moves.'] : moves.flatMap(moveLines)],
    ['Before it begins', waitLines(preview)],
  ]
  const bold = (text: string): string => (colour ? styleText('bold', text) : text)
  const shown = parts.filter(([, lines]) => lines.length > 0)
  return [
    ...shown.map(([title, lines]) => `${bold(title)}\n${lines.map((line) => `  ${line}\n`).join('')}\n`),
    'Nothing was changed: this was a dry run.\n',
  ].join('')
}

function fateLine({ fate, message, afterSeconds, loadBalancers }: DrainFate, colour: boolean): string {
  const within = afterSeconds === null ? '' : ` After ${afterSeconds} s.`
  return `${fateText(fate, colour)}${counted(loadBalancers, 'load balancer')}: ${message}${within}`
}

/** So many addresses are printed of one move. */
const MOST_ADDRESSES = 10

function moveLines({ how, shard, to, message, loadBalancers, addressCount, addresses }: DrainMove): readonly string[] {
  const what = shard === null ? '' : `shard ${shard} `
  const where = { shard: `-> ${nameOf(to)}`, owner: `-> ${nameOf(to)}`, routers: '-> the other nodes', stay: 'stays' }
  const much = `${counted(loadBalancers, 'load balancer')}, ${counted(addressCount, 'address')}`
  const why = how === 'stay' || how === 'routers' ? `. ${printable(message)}` : ''
  const more = addressCount > MOST_ADDRESSES ? [`and ${addressCount - MOST_ADDRESSES} more`] : []
  return [
    `${what}${where[how]}: ${much}${why}`,
    ...[...addresses.slice(0, MOST_ADDRESSES), ...more].map((line) => `    ${line}`),
  ]
}

const nameOf = (to: DrainMove['to']): string => printable(to?.name ?? '')

function waitLines({ reports, hasSuccessor, waitsFor: { unready, unheard } }: DrainPreview): readonly string[] {
  const names = (all: readonly string[]): string => all.map(printable).join(', ')
  return [
    ...(hasSuccessor ? [] : ['No other node of its group is connected and in use: nothing moves until one is.']),
    ...(reports ? [] : ['The node does not report: it hears of the drain once it does.']),
    ...(unready.length > 0 ? [`It waits for what cannot announce yet: ${names(unready)}.`] : []),
    ...(unheard.length > 0 ? [`It waits for what has not reported: ${names(unheard)}.`] : []),
  ]
}

const counted = (count: number, what: string): string =>
  `${count} ${count === 1 ? what : what.endsWith('s') ? `${what}es` : `${what}s`}`
