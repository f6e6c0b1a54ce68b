import { z } from 'zod'
import { timestamp, uuid } from '../scalars/scalars.ts'

/** How far back figures are kept, and how finely. */
export const FIGURE_SPANS = {
  hour: { stepSeconds: 60, steps: 60 },
  day: { stepSeconds: 600, steps: 144 },
} as const
export type FigureSpan = keyof typeof FIGURE_SPANS
export const figureSpan = z.enum(Object.keys(FIGURE_SPANS) as [FigureSpan, ...FigureSpan[]])

/** What every load balancer counts: new connections, those open, bytes, requests that could not be read. */
export const CONNECTION_FIGURES = [
  'connectionsPerSecond',
  'openConnections',
  'bytesInPerSecond',
  'bytesOutPerSecond',
  'requestErrorsPerSecond',
] as const
/** What is counted where the proxy parses requests: those, and the answers by the first digit of their status. */
export const REQUEST_FIGURES = [
  'requestsPerSecond',
  'responses1xxPerSecond',
  'responses2xxPerSecond',
  'responses3xxPerSecond',
  'responses4xxPerSecond',
  'responses5xxPerSecond',
] as const
/** How long requests took, where listeners count that: quantiles of those of the step. */
export const LATENCY_FIGURES = ['latencyP50Ms', 'latencyP90Ms', 'latencyP99Ms'] as const
export const figureName = z.enum([...CONNECTION_FIGURES, ...REQUEST_FIGURES, ...LATENCY_FIGURES])
export type FigureName = z.infer<typeof figureName>

/**
 * The history of the figures of a load balancer or a node, the oldest step first. A series that was never counted is missing; null is
 * unknown: before the control plane began to count, or a latency without requests.
 */
export const figures = z.strictObject({
  stepSeconds: z.number().int(),
  /** The beginning of the first step. */
  from: timestamp,
  series: z.partialRecord(figureName, z.array(z.number().nullable())),
})
export type Figures = z.infer<typeof figures>

/** What a load balancer does now, over some seconds. `bytesPerSecond` are those of both directions. */
export interface LoadRates {
  readonly connectionsPerSecond: number
  readonly bytesPerSecond: number
}

/** A check of a member that began to fail, or to succeed again, as one node saw it. */
export const memberTransition = z.strictObject({
  /** By the node's clock. */
  at: timestamp,
  nodeName: z.string(),
  poolId: uuid,
  memberId: uuid,
  health: z.enum(['up', 'down', 'unknown']),
  /** Why it is down; null otherwise. */
  reason: z.string().nullable(),
})
export type MemberTransition = z.infer<typeof memberTransition>

/** Reads what was counted in the past. It is soft state: lost with the control plane that leads. */
export interface FiguresReader {
  /** Null: nothing was counted in the last seconds, or it is not known. */
  rates(loadBalancerId: string): LoadRates | null
  /** @param id of a load balancer, or of a node: what all load balancers did there */
  figures(id: string, span: FigureSpan): Figures
  /** Newest last; a limited number is kept. */
  memberHistory(loadBalancerId: string): readonly MemberTransition[]
  /** Calls the listener with the id of each load balancer whose rates changed noticeably. @returns the unsubscribe */
  onRates(listener: (loadBalancerId: string) => void): () => void
}
