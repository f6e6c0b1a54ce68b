import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'

type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels: Labels
  readonly value: number
}

interface Described<L extends string> {
  /** Ends with the unit and, for counters, `_total`, as Prometheus wants it. */
  readonly name: string
  readonly help: string
  readonly labels?: readonly L[]
}

/**
 * Wraps the metrics library. Series per object (listener, node) are not kept: they are read from the owner's snapshot
 * at scrape time, at most `maxSeries` of them.
 */
export class Metrics {
  readonly #registry = new Registry()
  readonly #maxSeries: number
  readonly #cut: Counter<'metric'>

  constructor(options: { readonly maxSeries?: number } = {}) {
    this.#maxSeries = options.maxSeries ?? 50_000
    this.#cut = new Counter({
      name: 'spout_metrics_cut_series_total',
      help: 'Series left out of a scrape because a metric had too many',
      labelNames: ['metric'],
      registers: [this.#registry],
    })
  }

  counter<L extends string>(described: Described<L>): { add(labels: Readonly<Record<L, string>>, by?: number): void } {
    const counter = new Counter<string>({ ...this.#base(described), registers: [this.#registry] })
    return { add: (labels, by = 1) => counter.inc(labels, by) }
  }

  histogram<L extends string>(
    described: Described<L> & { readonly buckets: readonly number[] },
  ): { observe(labels: Readonly<Record<L, string>>, value: number): void } {
    const histogram = new Histogram<string>({
      ...this.#base(described),
      buckets: [...described.buckets],
      registers: [this.#registry],
    })
    return { observe: (labels, value) => histogram.observe(labels, value) }
  }

  /** Calls `snapshot` at each scrape. */
  gauge(described: Described<string>, snapshot: () => Iterable<Sample>): void {
    const gauge: Gauge<string> = new Gauge({
      ...this.#base(described),
      registers: [this.#registry],
      collect: () => {
        gauge.reset()
        for (const sample of this.#bounded(described.name, snapshot())) gauge.set({ ...sample.labels }, sample.value)
      },
    })
  }

  /** Exports counters that the kernel or the proxy counts. Calls `snapshot` at each scrape. */
  counters(described: Described<string>, snapshot: () => Iterable<Sample>): void {
    const counter: Counter<string> = new Counter({
      ...this.#base(described),
      registers: [this.#registry],
      collect: () => {
        counter.reset()
        for (const sample of this.#bounded(described.name, snapshot())) counter.inc({ ...sample.labels }, sample.value)
      },
    })
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** The Prometheus text format. */
  text(): Promise<string> {
    return this.#registry.metrics()
  }

  #base(described: Described<string>) {
    return { name: described.name, help: described.help, labelNames: [...(described.labels ?? [])] }
  }

  *#bounded(metric: string, samples: Iterable<Sample>): Iterable<Sample> {
    let count = 0
    for (const sample of samples) {
      if (++count <= this.#maxSeries) yield sample
    }
    if (count > this.#maxSeries) this.#cut.inc({ metric }, count - this.#maxSeries)
  }
}
