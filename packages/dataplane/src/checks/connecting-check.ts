import type { CheckSpec } from '@spout/model/node-state'
import type { Connect, ConnectResult } from '@spout/sys'
import type { CheckResult, CheckTarget, HealthCheck } from '../contracts/check.ts'
import { connectFailure, type ProbePlace, type TcpConnector } from './connector.ts'

export type Answer = ConnectResult & { readonly connected: true }

/** What a check sends to an endpoint that accepts the connection, and how it judges the answer. */
export interface Conversation extends Pick<Connect, 'send' | 'maxBytes' | 'tls'> {
  /** Why the answer is not the expected one; null if it is. */
  readonly judge: (answer: Answer) => string | null
}

/** A check that makes one connection, in one request to the helper. */
export interface ConnectingCheck extends HealthCheck {
  run(target: CheckTarget, signal?: AbortSignal): Promise<CheckResult>
}

export const connectingCheck =
  (type: CheckSpec['type'], converse: (target: CheckTarget) => Conversation | Promise<Conversation>) =>
  (connector: TcpConnector, place: ProbePlace): ConnectingCheck => ({
    type,
    run: async (target, signal) => {
      const { judge, ...said } = await converse(target)
      const { address, port, domain, spec } = target
      const { timeoutMs } = spec
      const asked = { netns: place(domain), address, port, timeoutMs, ...said }
      const answer = await connector.connect(asked, signal)
      const reason = answer.connected ? judge(answer) : connectFailure(answer.reason, timeoutMs)
      return { ok: reason === null, reason, durationMs: answer.durationMs }
    },
  })
