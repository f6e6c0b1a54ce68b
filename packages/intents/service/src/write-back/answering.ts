import type { Serving } from '@spout/model'

/** Whether endpoints of a Service answer, as its condition says it. */
export interface Answering {
  readonly answers: boolean
  readonly reason: Serving['reason'] | 'NoEndpoints'
  readonly message: string
}

/** @param shared whether other Services use the load balancer, too. Then the message must not tell of their members */
export function answeringOf({ state, reason, message }: Serving, shared: boolean): Answering {
  const answers = state !== 'no'
  switch (reason) {
    case 'Serving':
      return { answers, reason, message: 'Its endpoints answer.' }
    case 'NoMembers':
    case 'NoPool':
      return { answers, reason: 'NoEndpoints', message: 'No endpoint is ready: connections are refused.' }
    default:
      return {
        answers,
        reason,
        message: shared ? 'Of the Services that share its address, some have no endpoint that answers.' : message,
      }
  }
}
