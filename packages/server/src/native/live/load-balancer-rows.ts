import type { ModelView } from '@spout/admission/contract'
import type {
  FiguresReader,
  LoadBalancer,
  LoadBalancerRow,
  LoadBalancerSummary,
  LoadRates,
  StatusReader,
} from '@spout/model'
import { WrittenJson } from '@spout/runtime'
import { healthOf } from './health.ts'
import { ownerOf } from './owner.ts'

interface Written {
  readonly summary: LoadBalancerSummary
  readonly projectName: string
  readonly rates: LoadRates | null
  readonly json: WrittenJson
}

export interface LoadBalancerRowsOptions {
  readonly view: Pick<ModelView, 'get'>
  readonly status: Pick<StatusReader, 'summary'>
  readonly figures: Pick<FiguresReader, 'rates'>
}

/**
 * Rows of load balancers as JSON. Each is made once per change, and all lists and streams share it. A row goes with its
 * load balancer's document, so nothing has to be told of deletions.
 */
export class LoadBalancerRows {
  readonly #options: LoadBalancerRowsOptions
  readonly #written = new WeakMap<LoadBalancer, Written>()

  constructor(options: LoadBalancerRowsOptions) {
    this.#options = options
  }

  /** @param loadBalancer as the view has it now */
  of(loadBalancer: LoadBalancer): WrittenJson {
    const { view, status, figures } = this.#options
    const summary = status.summary(loadBalancer.id)
    const projectName = view.get('project', loadBalancer.projectId)?.value.name ?? ''
    const rates = figures.rates(loadBalancer.id)
    const known = this.#written.get(loadBalancer)
    if (known?.summary === summary && known.projectName === projectName && known.rates === rates) return known.json
    const json = new WrittenJson({ ...rowOf(loadBalancer, summary, projectName), ...ratesShown(rates) })
    this.#written.set(loadBalancer, { summary, projectName, rates, json })
    return json
  }
}

type Shown<K extends keyof LoadBalancerRow> = Pick<LoadBalancerRow, K>
type RateField = 'connectionsPerSecond' | 'bytesPerSecond'

/** Two digits: a row is sent again when they change. */
const ratesShown = (rates: LoadRates | null): Shown<RateField> => ({
  connectionsPerSecond: rates && Number(rates.connectionsPerSecond.toPrecision(2)),
  bytesPerSecond: rates && Number(rates.bytesPerSecond.toPrecision(2)),
})

function rowOf(
  loadBalancer: LoadBalancer,
  summary: LoadBalancerSummary,
  projectName: string,
): Shown<Exclude<keyof LoadBalancerRow, RateField>> {
  const { id, projectId, name, vips, listeners, createdAt, updatedAt } = loadBalancer
  const { members, membersUp } = summary.serving
  return {
    ...{ id, projectId, projectName, name },
    ...healthOf(loadBalancer, summary),
    vips: vips.map(({ address }) => address),
    listeners: listeners.length,
    routes: listeners.reduce((sum, { routes }) => sum + (routes?.length ?? 0), 0),
    members: { total: members, serving: membersUp },
    owner: ownerOf(loadBalancer),
    createdAt,
    updatedAt,
  }
}
