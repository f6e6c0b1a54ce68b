import {
  CONNECTION_FIGURES,
  FIGURE_SPANS,
  type FigureName,
  type FigureSpan,
  type Figures,
  LATENCY_FIGURES,
  type LoadRates,
  REQUEST_FIGURES,
} from '@spout/model'
import { LATENCY_BUCKETS, latencyQuantile } from '@spout/model/latency-counts'
import { type Counted, latenciesBetween } from './counted.ts'
import { type Idle, StepRing } from './step-ring.ts'

const SPANS = Object.keys(FIGURE_SPANS) as readonly FigureSpan[]
const QUANTILES = [0.5, 0.9, 0.99] as const

/** Series that are counted together, with what they have in idle steps. */
const GROUPS = {
  connections: { names: CONNECTION_FIGURES, idle: [0, 'last', 0, 0, 0] },
  requests: { names: REQUEST_FIGURES, idle: [0, 0, 0, 0, 0, 0] },
  latencies: { names: LATENCY_FIGURES, idle: ['unknown', 'unknown', 'unknown'] },
} as const satisfies Readonly<Record<string, { readonly names: readonly FigureName[]; readonly idle: readonly Idle[] }>>
type Group = keyof typeof GROUPS

const ringBytes = (group: Group): number =>
  SPANS.reduce((sum, span) => sum + StepRing.bytes(FIGURE_SPANS[span].steps, GROUPS[group].names.length), 0)
/** The counts at the beginning of each step, and of the last look. */
const LATENCY_BYTES = (SPANS.length + 1) * LATENCY_BUCKETS * Uint32Array.BYTES_PER_ELEMENT
/** Objects and their maps, as a heap snapshot shows them. */
const OBJECT_BYTES = 1536
const BYTES: Readonly<Record<Group, number>> = {
  connections: ringBytes('connections') + OBJECT_BYTES,
  requests: ringBytes('requests') + OBJECT_BYTES / 2,
  latencies: ringBytes('latencies') + LATENCY_BYTES + OBJECT_BYTES / 2,
}

/** Until then the next look at a load balancer with traffic has come. */
const NEXT_LOOK_MS = 30_000

/** Counts at a time. */
interface Look {
  readonly atMs: number
  readonly counted: Counted
}

/** The step that is being counted. */
interface Step extends Look {
  readonly number: number
}

const stepAt = (span: FigureSpan, atMs: number): number => Math.floor(atMs / (FIGURE_SPANS[span].stepSeconds * 1000))

/** The history of one load balancer. Series of requests and of latencies are kept once there are any. */
export class LoadFigures {
  readonly #rings = new Map<Group, Readonly<Record<FigureSpan, StepRing>>>()
  readonly #steps: Record<FigureSpan, Step>
  #look: Look
  rates: LoadRates = { connectionsPerSecond: 0, bytesPerSecond: 0 }

  /** @param atMs since when `counted` was so, in ms since 1970 */
  constructor(atMs: number, counted: Counted) {
    this.#look = { atMs, counted }
    this.#steps = {
      hour: { number: stepAt('hour', atMs), ...this.#look },
      day: { number: stepAt('day', atMs), ...this.#look },
    }
  }

  /** The bytes that a history of such a load balancer takes. */
  static bytes({ requests, latencies }: Pick<Counted, 'requests' | 'latencies'>): number {
    return BYTES.connections + (requests === null ? 0 : BYTES.requests) + (latencies === null ? 0 : BYTES.latencies)
  }

  get bytes(): number {
    return LoadFigures.bytes(this.#look.counted)
  }

  /** What was counted when it was last looked at. */
  get counted(): Counted {
    return this.#look.counted
  }

  /** Call when something is counted again after a pause. @param sinceMs until then all stayed as it was */
  resume(atMs: number, sinceMs: number): void {
    this.#look = { ...this.#look, atMs: Math.max(this.#look.atMs, sinceMs) }
    for (const span of SPANS) this.#steps[span] = { number: stepAt(span, atMs), ...this.#look }
  }

  /** Call from time to time while there is traffic. A step ends at the first look after its end. */
  look(atMs: number, counted: Counted): void {
    const now = { atMs, counted }
    for (const span of SPANS) {
      const number = stepAt(span, atMs)
      const step = this.#steps[span]
      if (number === step.number) continue
      if (number > step.number) this.#write(span, step, now)
      this.#steps[span] = { number, ...now }
    }
    const { connections, bytes } = perSecond(this.#look, now)
    this.rates = { connectionsPerSecond: connections, bytesPerSecond: bytes }
    this.#look = now
  }

  /** The steps until now. The one that is being counted is the last: its figures are those of its time so far. */
  read(span: FigureSpan, atMs: number): Figures {
    const step = this.#steps[span]
    return figuresOf(span, atMs, (until) => {
      const { steps } = FIGURE_SPANS[span]
      const at = steps - (until - step.number)
      const series: { [name in FigureName]?: (number | null)[] } = {}
      for (const [group, values] of valuesBetween(step, this.#look))
        for (const [index, name] of GROUPS[group].names.entries()) {
          const all = this.#rings.get(group)?.[span].read(index, until) ?? Array.from({ length: steps }, () => null)
          // A step that has just begun was not looked at yet.
          if (atMs - this.#look.atMs < NEXT_LOOK_MS) all[steps - 1] = null
          if (at >= 0 && this.#look.atMs > step.atMs) all[at] = values[index] ?? null
          series[name] = all
        }
      return series
    })
  }

  #write(span: FigureSpan, step: Step, now: Look): void {
    for (const [group, values] of valuesBetween(step, now)) this.#ring(group)[span].put(step.number, values)
  }

  #ring(group: Group): Readonly<Record<FigureSpan, StepRing>> {
    const known = this.#rings.get(group)
    if (known !== undefined) return known
    const { idle } = GROUPS[group]
    const rings = {
      hour: new StepRing(FIGURE_SPANS.hour.steps, idle),
      day: new StepRing(FIGURE_SPANS.day.steps, idle),
    }
    this.#rings.set(group, rings)
    return rings
  }
}

type Values = readonly (number | null)[]

/** The figures of the time between two looks, in the order of the names of their group. */
function valuesBetween({ atMs, counted: before }: Look, { atMs: untilMs, counted: after }: Look): Map<Group, Values> {
  const seconds = (untilMs - atMs) / 1000
  const rate = (was: number, is: number): number => (seconds <= 0 ? 0 : Math.max(0, is - was) / seconds)
  const values = new Map<Group, Values>([
    [
      'connections',
      [
        rate(before.connections, after.connections),
        after.open,
        rate(before.bytesIn, after.bytesIn),
        rate(before.bytesOut, after.bytesOut),
        rate(before.requestErrors, after.requestErrors),
      ],
    ],
  ])
  if (after.requests !== null)
    values.set(
      'requests',
      after.requests.map((count, at) => rate(before.requests?.[at] ?? 0, count)),
    )
  if (after.latencies === null) return values
  const latencies = latenciesBetween(before.latencies, after.latencies)
  const quantiles = QUANTILES.map((part) => latencyQuantile(latencies, part))
  return values.set(
    'latencies',
    quantiles.map((us) => (us === null ? null : us / 1000)),
  )
}

/** Figures of a load balancer that never had traffic. */
export const noFigures = (span: FigureSpan, atMs: number): Figures => figuresOf(span, atMs, () => ({}))

function figuresOf(span: FigureSpan, atMs: number, series: (until: number) => Figures['series']): Figures {
  const { stepSeconds, steps } = FIGURE_SPANS[span]
  const until = stepAt(span, atMs) + 1
  const from = new Date((until - steps) * stepSeconds * 1000).toISOString()
  return { stepSeconds, from, series: series(until) }
}

function perSecond(before: Look, now: Look): { readonly connections: number; readonly bytes: number } {
  const seconds = (now.atMs - before.atMs) / 1000
  if (seconds <= 0) return { connections: 0, bytes: 0 }
  const bytesOf = ({ counted }: Look): number => counted.bytesIn + counted.bytesOut
  return {
    connections: Math.max(0, now.counted.connections - before.counted.connections) / seconds,
    bytes: Math.max(0, bytesOf(now) - bytesOf(before)) / seconds,
  }
}
