import { printable } from '@spout/runtime/printable'
import type { ExplainedPool, ExplainedRoute } from './explanation.ts'

/** More are not printed; `--json` has all. */
const MOST_PRINTED = 50

/** A listener's routes, a line each, in the order in which they are tried. */
export function routeLines(routes: readonly ExplainedRoute[], pools: readonly ExplainedPool[]): readonly string[] {
  const more = routes.length - MOST_PRINTED
  return [
    ...routes.slice(0, MOST_PRINTED).map((route) => `    route  ${routeText(route, pools)}`),
    ...(more > 0 ? [`    and ${more} more routes`] : []),
  ]
}

function routeText(route: ExplainedRoute, pools: readonly ExplainedPool[]): string {
  const conditions = route.conditions.map(conditionText).join(' and ') || 'every request'
  const why = !route.enabled ? '; disabled' : route.reached ? '' : '; never reached: earlier routes take its requests'
  const name = route.name === '' ? '' : `${printable(route.name)}: `
  return `${name}${printable(conditions)} -> ${printable(actionText(route.action, pools))}${why}`
}

const WORDS: Readonly<Record<string, string>> = {
  exact: '',
  'one-label': 'one label before ',
  'any-labels': 'any labels before ',
  elements: 'under ',
  prefix: 'beginning with ',
  'ends-with': 'ending with ',
  contains: 'containing ',
  regex: 'matching ',
}

const conditionText = ({ on, name, compare = 'exact', values, not }: ExplainedRoute['conditions'][number]): string =>
  `${on} ${name === undefined ? '' : `${name} `}${not ? 'not ' : ''}${WORDS[compare] ?? `${compare} `}${values.join(' or ')}`

function actionText(action: ExplainedRoute['action'], pools: readonly ExplainedPool[]): string {
  if (action.type === 'respond') return `${action.code}`
  if (action.type === 'redirect') {
    const { scheme, host, port, path } = action
    return `${action.code} ${scheme ?? 'http'}://${host ?? '(host)'}${port ? `:${port}` : ''}${path ?? '(path)'}`
  }
  const shares = action.pools ?? []
  const called = (id: string): string => pools.find((pool) => pool.id === id)?.name || id
  const weightOf = (weight: number): string => (shares.length > 1 ? ` (weight ${weight})` : '')
  const mirrors = (action.mirrors ?? []).map(({ poolId, percent }) => `; ${percent} % copied to pool ${called(poolId)}`)
  const pooled = shares.map(({ poolId, weight }) => `pool ${called(poolId)}${weightOf(weight)}`).join(', ')
  return [
    pooled,
    ...(action.basicAuthentication === undefined ? [] : ['; with the password of a user']),
    ...(action.authorizer === undefined
      ? []
      : [`${action.satisfy === 'any' ? ', or' : ';'} if pool ${called(action.authorizer.poolId)} allows it`]),
    ...mirrors,
    ...timeoutTexts(action),
    ...retryTexts(action),
    ...rateTexts(action),
    ...limitTexts(action),
  ].join('')
}

function timeoutTexts({ timeouts }: ExplainedRoute['action']): readonly string[] {
  const { requestMs = null, backendRequestMs = null } = timeouts ?? {}
  const within = (ms: number): string => (ms === 0 ? 'without a time limit' : `within ${ms} ms`)
  return [
    ...(requestMs === null ? [] : [`; answered ${within(requestMs)}`]),
    ...(backendRequestMs === null ? [] : [`; each attempt ${within(backendRequestMs)}`]),
  ]
}

function rateTexts({ clientRate }: ExplainedRoute['action']): readonly string[] {
  if (clientRate === undefined) return []
  const { requests, perSeconds, burst } = clientRate
  const time = perSeconds === 1 ? 'a second' : `${perSeconds} seconds`
  return [`; each client up to ${requests} in ${time}${burst === 0 ? '' : `, and ${burst} more at once`}`]
}

function limitTexts({ clientConcurrency, maxBodyBytes }: ExplainedRoute['action']): readonly string[] {
  return [
    ...(clientConcurrency === undefined ? [] : [`; each client up to ${clientConcurrency} at once`]),
    ...(maxBodyBytes === undefined ? [] : [`; bodies up to ${maxBodyBytes} bytes`]),
  ]
}

function retryTexts({ retry }: ExplainedRoute['action']): readonly string[] {
  if (retry === undefined) return []
  const { attempts, codes, backoffMs } = retry
  const reasons = codes.length === 0 ? '' : ` and for ${codes.join(', ')}`
  const wait = backoffMs === 0 ? '' : `, ${backoffMs} ms apart`
  return [`; tried again up to ${attempts} ${attempts === 1 ? 'time' : 'times'}${wait}, without a response${reasons}`]
}
