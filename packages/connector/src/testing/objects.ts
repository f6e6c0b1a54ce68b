import type { Endpoint, EndpointSlice, Node } from '@spout/kube'

/** A UID made from a small number. */
export const uid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

export const endpoint = (address: string, more: Partial<Endpoint> = {}): Endpoint => ({
  addresses: [address],
  conditions: { ready: true, serving: true, terminating: false },
  targetRef: { kind: 'Pod', name: `pod-${address}` },
  ...more,
})

export function slice(
  serviceName: string,
  endpoints: readonly Endpoint[],
  more: Partial<EndpointSlice> & { readonly name?: string; readonly namespace?: string } = {},
): EndpointSlice {
  const { name = `${serviceName}-1`, namespace = 'shop', ...rest } = more
  return {
    metadata: { name, namespace, labels: { 'kubernetes.io/service-name': serviceName } },
    addressType: 'IPv4',
    endpoints,
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    ...rest,
  }
}

export function node(name: string, address: string, more: Partial<Node> = {}): Node {
  return {
    metadata: { name },
    status: { addresses: [{ type: 'InternalIP', address }] },
    ...more,
  }
}
