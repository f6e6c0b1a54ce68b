import { bracketed } from '@spout/net'
import type { LoadBalancerExplanation } from '../../api/explanation.ts'
import { command } from '../../parts/shell-word.ts'

type Asked = Pick<LoadBalancerExplanation, 'vips' | 'listeners'>

/** A command that sends a load balancer its first request; null when it has no address, or no listener for one. */
export function firstRequest({ vips: [vip], listeners }: Asked): string | null {
  const listener = listeners.find(({ protocol }) => protocol === 'http' || protocol === 'https' || protocol === 'tcp')
  if (vip === undefined || listener === undefined) return null
  const { protocol, port } = listener
  if (protocol === 'tcp') return command(['nc'], [['-vz', true]], [vip.address, String(port)])
  const isUsual = port === (protocol === 'http' ? 80 : 443)
  const url = `${protocol}://${bracketed(vip.address)}${isUsual ? '' : `:${port}`}/`
  // Nobody has a certificate for an address.
  return command(['curl'], protocol === 'https' ? [['--insecure', true]] : [], [url])
}
