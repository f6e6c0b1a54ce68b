import { useQuery } from '@tanstack/react-query'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { LoadBalancerExplanation } from '../../api/explanation.ts'
import { explainLoadBalancer } from '../../api/load-balancers.ts'
import { keys } from '../../api/query-keys.ts'
import { Mark } from '../../parts/badge.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { useSession } from '../../session/session-context.ts'
import { WeighedRoutes } from '../weights/weighed-routes.tsx'
import { PathBox } from './path-box.tsx'
import { type Box, type Column, complaints, pathGraph, pathThrough } from './path-graph.ts'
import { layOut, leastWidth } from './path-layout.ts'
import styles from './path-view.module.css'
import { useRates } from './use-rates.ts'

const TITLES: Readonly<Record<Column, string>> = {
  client: 'From',
  address: 'Addresses',
  node: 'Nodes',
  listener: 'Listeners',
  route: 'Routes',
  pool: 'Pools',
  member: 'Members',
}

const ONE: Readonly<Record<Column, string>> = {
  client: 'Client',
  address: 'Address',
  node: 'Node',
  listener: 'Listener',
  route: 'Route',
  pool: 'Pool',
  member: 'Member',
}

/** Rates are differences of counters, which nodes report once a second. */
const REFRESH_MS = 3000

/** The path of a connection to one load balancer, drawn. */
export function PathView({ id }: { readonly id: string }) {
  const told = useQuery({
    queryKey: keys.explanation(id),
    queryFn: ({ signal }) => explainLoadBalancer(id, signal),
    refetchInterval: REFRESH_MS,
  })
  return <Loaded query={told}>{(explanation) => <Drawing id={id} told={explanation} at={told.dataUpdatedAt} />}</Loaded>
}

interface DrawingProps {
  readonly id: string
  readonly told: LoadBalancerExplanation
  /** When it was told. */
  readonly at: number
}

function Drawing({ id, told, at }: DrawingProps) {
  const { may } = useSession()
  const rates = useRates(told, at)
  const graph = useMemo(() => pathGraph(told, rates), [told, rates])
  const [chosen, setChosen] = useState<string | null>(null)
  const [frame, room] = useWidth()
  const lit = useMemo(() => (chosen === null ? null : pathThrough(graph, chosen)), [graph, chosen])
  const isDrawn = room >= leastWidth(graph)
  const layout = useMemo(() => layOut(graph, room), [graph, room])
  const isDim = (box: string): boolean => lit !== null && !lit.has(box)
  return (
    <div className={styles.view}>
      <Complaints of={complaints(graph)} />
      <section
        ref={frame}
        className={isDrawn ? styles.drawing : styles.list}
        aria-label="The path of a connection"
        style={isDrawn ? { blockSize: layout.height + 34 } : undefined}
      >
        {isDrawn && (
          <svg className={styles.links} width={layout.width} height={layout.height} aria-hidden="true">
            {layout.lines.map(({ from, to, isUsed, d }) => (
              <path
                key={`${from} ${to}`}
                d={d}
                className={`${isUsed ? styles.used : styles.unused} ${isDim(from) || isDim(to) ? styles.dim : ''}`}
              />
            ))}
          </svg>
        )}
        {layout.columns.map(({ column, x, width }) => (
          <section key={column} className={styles.column} aria-label={TITLES[column]}>
            <h2 className={styles.title} style={isDrawn ? { insetInlineStart: x, inlineSize: width } : undefined}>
              {TITLES[column]}
            </h2>
            <ul className={styles.boxes}>
              {graph.boxes
                .filter((box) => box.column === column)
                .map((box) => (
                  <PathBox
                    key={box.id}
                    box={box}
                    place={isDrawn ? layout.places.get(box.id) : undefined}
                    isDim={isDim(box.id)}
                    onChoose={setChosen}
                  />
                ))}
            </ul>
          </section>
        ))}
      </section>
      {may.balance && <WeighedRoutes id={id} listeners={told.listeners} />}
    </div>
  )
}

/** What is not green, in whole sentences: boxes have no room for them. */
const Complaints = ({ of }: { readonly of: readonly Box[] }) =>
  of.length > 0 && (
    <ul className={styles.complaints} aria-label="What is not as it should be">
      {of.map(({ id, title, tone, reason, column }) => (
        <li key={id}>
          <Mark tone={tone} />{' '}
          <span>
            <strong>
              {ONE[column]} <bdi>{title}</bdi>:
            </strong>{' '}
            <bdi>{reason}</bdi>
          </span>
        </li>
      ))}
    </ul>
  )

function useWidth() {
  const frame = useRef<HTMLElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = frame.current
    if (element === null) return
    const measure = (): void => setWidth(element.clientWidth)
    measure()
    const watch = new ResizeObserver(measure)
    watch.observe(element)
    return () => watch.disconnect()
  }, [])
  return [frame, width] as const
}
