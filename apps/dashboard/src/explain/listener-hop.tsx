import { readsRequests } from '@spout/model/protocols'
import type { ListenerDecision, ListenerVerdict } from '@spout/plan/requests'
import { Name } from '../parts/name.tsx'
import styles from './explain-page.module.css'
import { Hop } from './hop.tsx'
import { RouteList } from './route-list.tsx'
import type { MetListener, Step } from './way.ts'

interface Props {
  readonly listeners: readonly ListenerDecision<MetListener>[]
  readonly steps: readonly Step[]
}

const VERDICTS: Readonly<Record<ListenerVerdict, string>> = {
  takes: 'takes the connection',
  refuses: 'does not admit this client',
  behind: 'gets what the one in front of it has no route for',
  disabled: 'is disabled',
  'other-transport': 'is for another protocol',
  'other-port': 'has another port',
}

/** The listeners that the connection meets, their routes, and why the other listeners do not take it. */
export const ListenerHop = ({ listeners, steps }: Props) => {
  const met = new Set(steps.map(({ listener }) => listener.id))
  const others = listeners.filter(({ listener }) => !met.has(listener.id))
  return (
    <>
      {steps.length === 0 && (
        <Hop tone="bad" kind="Listener" title="none">
          <Others of={others} />
        </Hop>
      )}
      {steps.map((step, at) => (
        <StepHops key={step.listener.id} step={step} others={at === 0 ? others : []} />
      ))}
    </>
  )
}

const StepHops = ({ step, others }: { readonly step: Step; readonly others: Props['listeners'] }) => {
  const { listener, routes, passesOn } = step
  const asked = listener.clientCertificates
  return (
    <>
      <Hop
        tone={listener.why === null ? 'ok' : 'warn'}
        kind="Listener"
        title={
          <>
            <Name of={listener.name} or={listener.id} /> · {listener.protocol} {listener.port}
          </>
        }
      >
        {listener.why !== null && <p>{sentence(listener.why)}</p>}
        {listener.allowedCidrs !== null && (
          <p className={styles.soft}>Admits {listener.allowedCidrs.join(', ') || 'nobody'}.</p>
        )}
        {asked !== null && <p className={styles.soft}>Client certificates: {asked}.</p>}
        <Others of={others} />
      </Hop>
      {routes.length > 0 && (
        <RouteList step={step} seen={readsRequests(listener.protocol) ? 'request' : 'connection'} />
      )}
      {passesOn && (
        <Hop tone="ok" kind="No route" title="passed on">
          <p className={styles.soft}>The listener behind it gets what none of its routes takes.</p>
        </Hop>
      )}
    </>
  )
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const Others = ({ of }: { readonly of: Props['listeners'] }) =>
  of.length === 0 ? null : (
    <details className={styles.more}>
      <summary>{of.length === 1 ? '1 other listener' : `${of.length} other listeners`}</summary>
      <ul className={styles.lines}>
        {of.map(({ listener, verdict }) => (
          <li key={listener.id}>
            <Name of={listener.name} or={listener.id} /> ({listener.protocol} {listener.port}) {VERDICTS[verdict]}.
          </li>
        ))}
      </ul>
    </details>
  )
