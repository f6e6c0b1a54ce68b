/** An alert for whoever is on call. */
export interface Alert {
  readonly name: string
  /** In PromQL. Where several control planes are scraped, the one that leads counts: hence `max by`. */
  readonly expression: string
  /** How long it must hold; a Prometheus duration. */
  readonly lasts: string
  /** critical: wake somebody. warning: within the day. info: know it when you look. */
  readonly severity: 'critical' | 'warning' | 'info'
  /** One line; `{{ $labels.node }}` is the label of the series. */
  readonly summary: string
  /** What it means for users, and what goes on. */
  readonly description: string
  /** The heading in docs/runbook.md that says what to do. */
  readonly heading: string
}

/** The anchor of a heading, as pages link to it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')
