import { styleText } from 'node:util'
import { endpointText } from '@spout/net'
import { conditionText, type RequestWay, subjectText, type WayListener, type WayShare } from '@spout/plan/requests'
import { printable } from '@spout/runtime/printable'
import { RETURN_PATHS } from './explain-text.ts'
import type { ExplainedPool, Explanation } from './explanation.ts'

type Named = { readonly id: string; readonly name: string }
type NamedListener = Omit<WayListener, 'routes'> &
  Named & { readonly routes: readonly (WayListener['routes'][number] & Named)[] }

/** The answer of `GET /load-balancers/{id}/explain`, as far as a request meets it. */
export interface RequestExplanation extends Pick<Explanation, 'loadBalancer' | 'returnPath'> {
  readonly listeners: readonly NamedListener[]
  readonly pools: readonly ExplainedPool[]
}

export interface ExplainedRequest {
  readonly address: string
  readonly port: number
  /** Names of the nodes that announce the address. */
  readonly owners: readonly string[]
  readonly explanation: RequestExplanation
  readonly way: RequestWay<NamedListener, ExplainedPool>
}

/** The most routes and members that are printed. */
const MOST_PRINTED = 50

const called = ({ name, id }: Named): string => printable(name || id)

/** The way of a request, hop by hop. */
export function explainRequestText(
  { address, port, owners, explanation, way }: ExplainedRequest,
  colour: boolean,
): string {
  const title = `Load balancer ${called(explanation.loadBalancer)}`
  const by = owners.length === 0 ? 'announced by nobody' : `announced by ${owners.join(', ')}`
  const lines = [
    colour ? styleText('bold', title) : title,
    `client -> ${endpointText({ address, port })}, ${by}`,
    ...way.steps.flatMap(stepLines),
    ...endLines(way.end),
    ...(way.end.is === 'shares' && explanation.returnPath ? [`  back   ${RETURN_PATHS[explanation.returnPath]}`] : []),
  ]
  return `${lines.join('\n')}\n`
}

type Way = ExplainedRequest['way']

function stepLines({ listener, routes, passesOn }: Way['steps'][number]): readonly string[] {
  return [
    `  listen ${called(listener)}: ${listener.protocol} ${listener.port}`,
    ...routes.slice(0, MOST_PRINTED).map((decision, at) => `    route  ${at + 1} ${routeText(decision)}`),
    ...(routes.length > MOST_PRINTED ? [`    and ${routes.length - MOST_PRINTED} more routes`] : []),
    ...(passesOn ? ['    no route takes it: the listener behind gets it'] : []),
  ]
}

function routeText({ route, verdict }: Way['steps'][number]['routes'][number]): string {
  const name = called(route as WayListener['routes'][number] & Named)
  if (verdict.is === 'takes') return `${name}: takes it`
  if (verdict.is === 'disabled') return `${name}: is disabled`
  if (verdict.is === 'later') return `${name}: would take it, but an earlier one does`
  const { condition, has } = verdict
  const found = has.length === 0 ? `there is no ${subjectText(condition)}` : `it is ${has.join(', ') || 'empty'}`
  return `${name}: needs that ${printable(conditionText(condition))}; ${printable(found)}`
}

function endLines(end: Way['end']): readonly string[] {
  if (end.is === 'closed') return [`  end    ${end.why}`]
  if (end.is === 'answer') return [`  answer ${end.code}: ${end.why}`]
  if (end.is === 'redirect') return [`  answer ${end.code}, Location: ${printable(end.location)}`]
  return end.shares.flatMap(shareLines)
}

function shareLines(share: WayShare<ExplainedPool>): readonly string[] {
  const part = share.percent === 100 ? '' : `, ${percentText(share.percent)}`
  if (share.is === 'answered') return [`  answer ${share.code}${part}`]
  if (share.pool === null) return [`  pool   gone${part}: 503`]
  const { members } = share.pool
  const all = members.reduce((sum, { why, weight }) => sum + (why === null ? weight : 0), 0)
  const panic = share.pool.panic ? '; so many members are down that their health is ignored' : ''
  return [
    `  pool   ${called(share.pool)}: ${share.pool.algorithm}${part}${panic}`,
    ...members.slice(0, MOST_PRINTED).map((member) => `    member ${memberText(member, all)}`),
    ...(members.length > MOST_PRINTED ? [`    and ${members.length - MOST_PRINTED} more members`] : []),
    ...(all === 0 ? ['    no member answers'] : []),
  ]
}

function memberText(member: ExplainedPool['members'][number], all: number): string {
  const { address, port, weight, why, health, since, reason } = member
  const place = `${called(member)} ${endpointText({ address, port })}`
  if (why === null) return `${place}: ${percentText((100 * weight) / all)}`
  const down =
    health === 'down'
      ? `${since === null ? '' : ` since ${since}`}${reason === null ? '' : `, ${printable(reason)}`}`
      : ''
  return `${place}: out, ${why}${down}`
}

const percentText = (percent: number): string => `${Number(percent.toFixed(1))} %`
