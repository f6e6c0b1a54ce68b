import { conditionsText, conditionText, type RouteDecision, subjectText } from '@spout/plan/requests'
import type { ExplainedRoute } from '../api/explanation.ts'
import { Mark, type Tone } from '../parts/badge.tsx'
import { Name } from '../parts/name.tsx'
import styles from './explain-page.module.css'
import { Hop } from './hop.tsx'
import { shownRoutes } from './shown-routes.ts'
import type { Step } from './way.ts'

interface Props {
  readonly step: Step
  /** What the routes look at. */
  readonly seen: 'request' | 'connection'
}

/** The routes in the order in which they are tried, each with its reason. */
export const RouteList = ({ step: { routes, taken }, seen }: Props) => {
  const { shown, left } = shownRoutes(routes)
  return (
    <Hop
      tone={taken === null ? 'quiet' : 'ok'}
      kind={`Routes (${routes.length})`}
      title={taken === null ? `no route takes the ${seen}` : <Name of={taken.name} or="the route without a name" />}
    >
      <ol className={styles.routes}>
        {shown.map(({ at, decision }) => (
          <RouteLine key={decision.route.id} at={at} decision={decision} seen={seen} />
        ))}
      </ol>
      {left > 0 && <p className={styles.soft}>and {left.toLocaleString()} more routes that do not take it</p>}
    </Hop>
  )
}

const TONES: Readonly<Record<string, Tone>> = { takes: 'ok', later: 'warn', differs: 'quiet', disabled: 'quiet' }

const RouteLine = (line: {
  readonly at: number
  readonly decision: RouteDecision<ExplainedRoute>
  readonly seen: Props['seen']
}) => {
  const { route, verdict } = line.decision
  return (
    <li className={`${styles.route} ${verdict.is === 'takes' ? styles.taken : ''}`}>
      <span className={styles.number}>{line.at + 1}</span>
      <Mark tone={TONES[verdict.is] ?? 'quiet'} />
      <div className={styles.words}>
        <span className={styles.strong}>
          <Name of={route.name} or="without a name" />
        </span>{' '}
        <span className={styles.soft}>
          <bdi>{conditionsText(route.conditions)}</bdi>
        </span>
        <p>
          <Why decision={line.decision} seen={line.seen} />
        </p>
      </div>
    </li>
  )
}

function Why({ decision: { verdict, route }, seen }: Pick<Parameters<typeof RouteLine>[0], 'decision' | 'seen'>) {
  if (verdict.is === 'takes') return <>Takes the {seen}.</>
  if (verdict.is === 'disabled') return <>Is disabled.</>
  if (verdict.is === 'later')
    return (
      <>Would take it, but an earlier route does{route.reached ? '' : ', as it does for all that this one matches'}.</>
    )
  const { condition, has } = verdict
  return (
    <>
      Needs that <bdi>{conditionText(condition)}</bdi>;{' '}
      {has.every((part) => part === '') ? (
        `the ${seen} has ${has.length === 0 || condition.on === 'host' ? 'no' : 'an empty'} ${subjectText(condition)}`
      ) : (
        <>
          the {seen} has <bdi>{has.join(', ')}</bdi>
        </>
      )}
      .
    </>
  )
}
