import { lookup } from 'node:dns/promises'
import { call } from '@spout/client/api'
import { isIp } from '@spout/net'
import { requestWay } from '@spout/plan/requests'
import { type CommandContext, sessionOf, UsageError } from '../connections/context.ts'
import { askedUrl, type RequestChoice } from './asked-url.ts'
import { explainRequestText, type RequestExplanation } from './explain-request-text.ts'
import type { VipExplanation } from './explain-vip-text.ts'
import { type VipChoice, vipPath } from './vip.ts'

/**
 * Explains which member would get a request, and why. The request is not sent: the routes are decided here.
 * @param url its host is looked up, unless it is an address or the choice names one
 */
export async function explainRequest(
  url: string,
  choice: RequestChoice & VipChoice,
  context: CommandContext,
): Promise<void> {
  const { host, port, request } = askedUrl(url, choice)
  const address = choice.address ?? (isIp(host) ? host : await addressOf(host))
  const session = sessionOf(context)
  const { loadBalancer, owners } = await call<VipExplanation>(
    session,
    'GET',
    await vipPath(session, address, '/explain', choice),
  )
  const explanation = await call<RequestExplanation>(session, 'GET', `/load-balancers/${loadBalancer.id}/explain`)
  const way = requestWay(explanation, { transport: 'tcp', port, source: request.source }, request)
  context.write(explainRequestText({ address, port, owners, explanation, way }, context.colour))
}

async function addressOf(host: string): Promise<string> {
  try {
    return (await lookup(host)).address
  } catch {
    throw new UsageError(`${host} has no address here: name the load balancer's with --address IP`)
  }
}
