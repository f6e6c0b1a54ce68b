import type { ForwardAction, RouteFilter } from '@spout/model'

/** What a filter does to a request or a response. */
export function filterText(filter: RouteFilter): string {
  if (filter.type === 'cors') return `answers cross-origin requests of ${filter.origins.join(', ')}`
  if (filter.type === 'rewrite') {
    const { host, path, prefix } = filter
    return [
      ...(host === null ? [] : [`host becomes ${host}`]),
      ...(path === null ? [] : [`path becomes ${path}`]),
      ...(prefix === null ? [] : [`${prefix.from} at the beginning of the path becomes ${prefix.to}`]),
    ].join(', ')
  }
  const { set, add, remove } = filter
  const of = filter.type === 'request-headers' ? 'the request' : 'the response'
  const edits = [
    ...remove.map((name) => `removes ${name}`),
    ...set.map(({ name, value }) => `sets ${name}: ${value}`),
    ...add.map(({ name, value }) => `adds ${name}: ${value}`),
  ]
  return `${edits.join(', ')} (headers of ${of})`
}

/**
 * What a request must pass before a pool gets it, in the order in which nodes check it.
 * @param called names a pool by its id
 */
export function checksText(action: ForwardAction, called: (poolId: string) => string): readonly string[] {
  const { clientRate: rate, clientConcurrency, maxBodyBytes, basicAuthentication, authorizer, satisfy } = action
  const either = satisfy === 'any' ? ', or the password below is right' : ''
  return [
    ...(rate === undefined
      ? []
      : [
          `a client may send ${rate.requests} requests in ${rate.perSeconds} s, and ${rate.burst} more at once; else 429`,
        ]),
    ...(clientConcurrency === undefined ? [] : [`a client may have ${clientConcurrency} under way; else 503`]),
    ...(maxBodyBytes === undefined ? [] : [`its body has at most ${maxBodyBytes} bytes; else 413`]),
    ...(authorizer === undefined ? [] : [`pool ${called(authorizer.poolId)} must allow it${either}`]),
    ...(basicAuthentication === undefined ? [] : ['the password of a user on its list is needed; else 401']),
  ]
}

/** What happens beside the answer: copies, time-outs, retries. */
export function besidesText({ mirrors, timeouts, retry }: ForwardAction, called: (poolId: string) => string) {
  return [
    ...(mirrors ?? []).map(
      ({ poolId, percent }) => `${percent} % of the requests are copied to pool ${called(poolId)}`,
    ),
    ...(timeouts?.requestMs ? [`answered within ${timeouts.requestMs} ms, else 504`] : []),
    ...(retry === undefined ? [] : [`tried again up to ${retry.attempts} times`]),
  ]
}
