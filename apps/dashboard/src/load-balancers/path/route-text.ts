import type { ExplainedPool, ExplainedRoute } from '../../api/explanation.ts'

const WORDS: Readonly<Record<string, string>> = {
  exact: '',
  'one-label': '*.',
  'any-labels': '**.',
  elements: '',
  prefix: 'beginning with ',
  'ends-with': 'ending with ',
  contains: 'containing ',
  regex: 'matching ',
}

type Condition = ExplainedRoute['conditions'][number]

const conditionText = (condition: Condition): string => {
  const { on, values, not } = condition
  const compare = 'compare' in condition ? (WORDS[condition.compare] ?? `${condition.compare} `) : ''
  const name = 'name' in condition ? ` ${condition.name}` : ''
  const after = 'compare' in condition && condition.compare === 'elements' ? '/…' : ''
  const wanted = values.map((value) => `${compare}${value === '/' ? '' : value}${after}`).join(' or ')
  return `${on}${name} ${not ? 'not ' : ''}${wanted}`
}

/** Which requests a route takes. */
export const conditionsText = (conditions: readonly Condition[]): string =>
  conditions.map(conditionText).join(', ') || 'every request'

/** What a route does with a request. */
export function actionText(action: ExplainedRoute['action'], pools: readonly Pick<ExplainedPool, 'id' | 'name'>[]) {
  if (action.type === 'respond') return `answers ${action.code}`
  if (action.type === 'redirect') {
    const { scheme, host, port, path } = action
    const place = `${host ?? '(host)'}${port === null ? '' : `:${port}`}${path ?? '(path)'}`
    return `redirects (${action.code}) to ${scheme ?? '(scheme)'}://${place}`
  }
  const total = action.pools.reduce((sum, { weight }) => sum + weight, 0)
  return action.pools
    .map(({ poolId, weight }) => {
      const name = pools.find(({ id }) => id === poolId)?.name || poolId
      return action.pools.length === 1 ? `to ${name}` : `${Math.round((100 * weight) / total)} % to ${name}`
    })
    .join(', ')
}
