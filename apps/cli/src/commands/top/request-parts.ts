import { call, type Session } from '@spout/client/api'
import { SpoutError } from '@spout/model'
import { OTHER_ROUTES, type RequestParts } from '@spout/model/node-report'
import { type Counts, requestCounts } from '../../rates.ts'
import { type Column, column, type Row } from '../../resources/resource.ts'

/** The parts by which requests of a listener are counted. */
export const PARTS = ['pool', 'route'] as const
export type Part = (typeof PARTS)[number]

/** A request to the API for each load balancer. */
const MOST_LOAD_BALANCERS = 100

/** Columns that name what was counted. */
export const PART_NAMES: Readonly<Record<Part, readonly Column[]>> = {
  pool: [column('POOL', 'name')],
  route: [column('LISTENER', 'listener'), column('ROUTE', 'name')],
}

const HOW_TO_COUNT: Readonly<Record<Part, string>> = {
  pool: '--latencies yes',
  route: '--latencies yes --route-figures yes',
}

const namedIn = (objects: readonly Row[], id: string): string =>
  String(objects.find((one) => one.id === id)?.name || id)

const counts = (listener: Row, by: Part): boolean =>
  listener.latencies === true && (by === 'pool' || listener.routeFigures === true)

/**
 * The counts by pool or by route: a row for each that had requests.
 * @throws SpoutError InvalidField when no listener counts this, or too many load balancers do
 */
export async function partRows(session: Session, loadBalancers: readonly Row[], by: Part): Promise<readonly Row[]> {
  const counting = loadBalancers.filter(({ listeners }) => (listeners as readonly Row[]).some((one) => counts(one, by)))
  if (counting.length === 0) {
    const [only, ...others] = loadBalancers
    const named = only === undefined || others.length > 0 ? 'LOAD_BALANCER' : String(only.name || only.id)
    const reason = `no listener counts by ${by}: spout listener set ${named} LISTENER ${HOW_TO_COUNT[by]}`
    throw new SpoutError('InvalidField', { field: '--by', reason })
  }
  if (counting.length > MOST_LOAD_BALANCERS)
    throw new SpoutError('InvalidField', {
      field: '--by',
      reason: `${counting.length} load balancers count by ${by}, at most ${MOST_LOAD_BALANCERS} can be shown: name a project`,
    })
  const rows = await Promise.all(
    counting.map(async (one) => {
      const parts = await call<Readonly<Record<string, RequestParts>>>(
        session,
        'GET',
        `/load-balancers/${String(one.id)}/requests`,
      )
      return by === 'pool' ? poolRows(one, parts) : routeRows(one, parts)
    }),
  )
  return rows.flat()
}

type ByListener = Readonly<Record<string, RequestParts>>

/** Several listeners may use one pool. */
function poolRows(loadBalancer: Row, byListener: ByListener): readonly Row[] {
  const all = Object.values(byListener)
  return (loadBalancer.pools as readonly Row[]).flatMap(({ id, name }): readonly Row[] => {
    const counted = all.flatMap(({ pools }) => pools[String(id)] ?? [])
    return counted.length === 0
      ? []
      : [{ id, loadBalancer: loadBalancer.name, name: name || id, counts: requestCounts(counted) }]
  })
}

function routeRows(loadBalancer: Row, byListener: ByListener): readonly Row[] {
  return (loadBalancer.listeners as readonly Row[]).flatMap((listener) => {
    const routes = Object.entries(byListener[String(listener.id)]?.routes ?? {})
    return routes.map(([id, counted]): Row => {
      const name = id === OTHER_ROUTES ? OTHER_ROUTES : namedIn(listener.routes as readonly Row[], id)
      const shown = { loadBalancer: loadBalancer.name, listener: listener.name || listener.port, name }
      return { id: `${String(listener.id)}/${id}`, ...shown, counts: requestCounts([counted]) }
    })
  })
}

/** Counts by id, for rates. */
export const countsById = (rows: readonly Row[]): ReadonlyMap<string, Counts> =>
  new Map(rows.map((row) => [String(row.id), row.counts as Counts]))
